#include "text_sizes.h"

#include <algorithm>
#include <charconv>

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

std::optional<MostPositions> most_positions(const Model& model) {
    for (const Setting& setting : model.settings) {
        if (setting.name != "n_positions" && setting.name != "max_position_embeddings") continue;
        MostPositions most{.setting = setting.name};
        const char* const end = setting.value.data() + setting.value.size();
        const auto read = std::from_chars(setting.value.data(), end, most.count);
        if (read.ec == std::errc() && read.ptr == end && most.count > 0) return most;
    }
    return std::nullopt;
}

void verify_length(const Model& model, const std::string& text, std::int64_t tokens) {
    const std::optional<MostPositions> most = most_positions(model);
    if (most && tokens > most->count)
        throw UserError("{} has {} tokens, but this {} reads {} at most ({})",
                        {text, tokens, model.name, most->count, most->setting});
}

std::int64_t length_within_positions(const Model& model, const Options& options,
                                     const std::string& option, const std::string& text) {
    const std::int64_t length = options.integer(option);
    const std::optional<MostPositions> most = most_positions(model);
    if (!options.given(option)) return most ? std::min(length, most->count) : length;
    verify_length(model, text, length);
    return length;
}

DimValues TextSizes::of_text(std::int64_t length, std::int64_t count) const {
    if (batch_.empty() && count != 1) throw InternalError("{} texts of a batch of one", {count});
    DimValues dims = {{length_, length}};
    if (!batch_.empty()) dims[batch_] = count;
    return dims;
}

}  // namespace fovea::runtime
