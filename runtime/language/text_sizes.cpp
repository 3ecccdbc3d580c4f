#include "text_sizes.h"

#include <algorithm>

#include "../error.h"

namespace fovea::runtime {

const TensorSpec& spec_of(const std::vector<TensorSpec>& specs, std::string_view name) {
    const auto found =
        std::ranges::find_if(specs, [&](const TensorSpec& spec) { return spec.name == name; });
    if (found == specs.end()) throw InternalError("a program of texts has no tensor '{}'", {name});
    return *found;
}

TextSizes::TextSizes(const Model& model, const Program& program, std::string_view input) {
    const std::vector<Extent>& ids = spec_of(program.inputs, input).shape;
    for (const Extent& size : ids)
        if (size.as_dim() < 0 && !size.is_constant())
            throw UserError("{} has {} of sizes that are computed", {model.name, input});
    if (ids[1].is_constant())
        throw UserError("{} reads {} of {} tokens alone, where texts have any length",
                        {model.name, input, ids[1].value({})});
    if (ids[0].is_constant() && ids[0].value({}) != 1)
        throw UserError("{} reads {} texts at once, and goes on with single ones alone",
                        {model.name, ids[0].value({})});
    if (!ids[0].is_constant()) batch_ = model.dims[static_cast<std::size_t>(ids[0].as_dim())];
    length_ = model.dims[static_cast<std::size_t>(ids[1].as_dim())];
}

DimValues TextSizes::of_text(std::int64_t length, std::int64_t count) const {
    if (batch_.empty() && count != 1) throw InternalError("{} texts of a batch of one", {count});
    DimValues dims = {{length_, length}};
    if (!batch_.empty()) dims[batch_] = count;
    return dims;
}

}  // namespace fovea::runtime
