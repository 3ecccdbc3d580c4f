// One forward pass over a sentence and its translation.
#include "attention_maps.h"

#include <algorithm>

#include "../error.h"
#include "../text/vocabulary.h"

namespace fovea::runtime {

namespace {

void fill(Instance& instance, const char* name, std::span<const std::int32_t> values) {
    if (instance.has_input(name))
        std::copy(values.begin(), values.end(), instance.input<std::int32_t>(name));
}

MapAxis axis_of(const Extent& extent, const Model& model) {
    for (const Extent::Term& term : extent.terms())
        for (const int dim : term.dims)
            if (model.dims[static_cast<std::size_t>(dim)] == "tgt_len") return MapAxis::target;
    return MapAxis::source;
}

/// An output of the program, without what it says of padding.
AttentionMap map_of(Instance& instance, const TensorSpec& spec, const Model& model,
                    std::int64_t src_len, std::int64_t tgt_len) {
    const std::vector<std::int64_t> shape = instance.shape_of(spec);
    const std::size_t rank = shape.size();
    const auto size = [&](MapAxis axis) { return axis == MapAxis::source ? src_len : tgt_len; };
    AttentionMap map;
    map.name = spec.name;
    map.heads = rank > 3 ? shape[1] : 1;
    map.query_axis = axis_of(spec.shape[rank - 2], model);
    map.key_axis = axis_of(spec.shape[rank - 1], model);
    map.queries = size(map.query_axis);
    map.keys = size(map.key_axis);
    const std::span<const float> values = instance.output_values(spec.name);
    for (std::int64_t row = 0; row < map.heads * map.queries; ++row) {
        const std::int64_t place = row / map.queries * shape[rank - 2] + row % map.queries;
        const auto first = values.begin() + place * shape[rank - 1];
        map.weights.insert(map.weights.end(), first, first + map.keys);
    }
    return map;
}

}  // namespace

std::vector<AttentionMap> attention_maps(const Model& model, Parameters& parameters,
                                         const DimValues& dims,
                                         std::span<const std::int32_t> source,
                                         std::size_t source_steps,
                                         std::span<const std::int32_t> target) {
    const bool has_program = std::any_of(model.programs.begin(), model.programs.end(),
                                         [](const Program& p) { return p.name == "attention"; });
    if (!has_program)
        throw UserError(model.name + " has no attention whose weights could be shown");
    Instance instance(model, "attention", parameters);
    DimValues sizes = dims;
    sizes["batch"] = 1;
    sizes["src_len"] = static_cast<std::int64_t>(source_steps);
    sizes["tgt_len"] = static_cast<std::int64_t>(target.size());
    instance.bind(sizes);
    const auto src_len = static_cast<std::int32_t>(source.size());
    const auto tgt_len = static_cast<std::int32_t>(target.size());
    std::vector<std::int32_t> read = {kBegin};
    read.insert(read.end(), target.begin(), target.end() - 1);
    std::vector<std::int32_t> padded(source.begin(), source.end());
    padded.resize(source_steps, kPad);
    fill(instance, "src", padded);
    fill(instance, "src_lens", {&src_len, 1});
    fill(instance, "tgt", read);
    fill(instance, "labels", target);
    fill(instance, "tgt_lens", {&tgt_len, 1});
    instance.run();
    std::vector<AttentionMap> maps;
    for (const TensorSpec& spec : instance.program().outputs)
        maps.push_back(map_of(instance, spec, model, src_len, tgt_len));
    return maps;
}

}  // namespace fovea::runtime
