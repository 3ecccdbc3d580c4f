// Ops that make values from nothing but sizes, and outputs.
#include <algorithm>
#include <cstdint>

#include "codegen/ops/definitions.h"

namespace fovea::ops {

namespace {

void constant_reference(const Evaluation& e, Array& result) {
    std::fill(result.values.begin(), result.values.end(), e.node().value);
}

void extent_reference(const Evaluation& e, Array& result) {
    double size = double(e.value(e.node().dim));
    std::fill(result.values.begin(), result.values.end(), size);
}

void iota_reference(const Evaluation& e, Array& result) {
    std::int64_t stride = 1, size = e.shape[std::size_t(e.node().axis)];
    for (std::size_t i = std::size_t(e.node().axis) + 1; i < e.shape.size(); ++i)
        stride *= e.shape[i];
    for (std::size_t i = 0; i < result.values.size(); ++i)
        result.values[i] = double(std::int64_t(i) / stride % size);
}

void output_reference(const Evaluation& e, Array& result) { result.values = e.inputs[0]->values; }

void output_gradient(const Node&, Tensor, Tensor dy, GradientSink& sink) { sink.add(0, dy); }

Tensor output_derive(const Derivation& d) { return d.inputs[0]; }

std::string name_text(const Graph&, const Node& node) {
    return fmt::format("{} {}", row_of(node.op).name, node.name);
}
std::string parameter_text(const Graph& graph, const Node& node) {
    const WeightStorage storage = storage_of(node);
    return "parameter " + graph.path(node.scope) + (storage ? " as " + text_of(storage) : "");
}
std::string constant_text(const Graph&, const Node& node) {
    return "constant " + number_text(node.value);
}
std::string extent_text(const Graph&, const Node& node) { return "extent " + dim_text(node.dim); }

/// Its values are the positions.
AxisUse iota_axis(const Graph&, const Node& node, int, int axis) {
    return axis == node.axis ? AxisUse{} : AxisUse{Along::maps, axis};
}

}  // namespace

OpDef poison_def() { return {.op = Op::poison}; }
OpDef input_def() {
    return {.op = Op::input, .unique = true, .axis = aligned_axis, .text = name_text};
}
OpDef parameter_def() {
    return {.op = Op::parameter, .unique = true, .axis = aligned_axis, .text = parameter_text};
}
OpDef constant_def() {
    return {.op = Op::constant,
            .cost = Cost::none,
            .reference = constant_reference,
            .axis = aligned_axis,
            .text = constant_text};
}
OpDef extent_def() {
    return {.op = Op::extent,
            .cost = Cost::none,
            .reference = extent_reference,
            .axis = aligned_axis,
            .text = extent_text};
}
OpDef iota_def() {
    return {.op = Op::iota,
            .cost = Cost::none,
            .reference = iota_reference,
            .axis = iota_axis,
            .why_not_derivable = why_no_axis,
            .text = axis_text};
}
OpDef output_def() {
    return {.op = Op::output,
            .inputs = {1, 1},
            .copied = 1,
            .unique = true,
            .reference = output_reference,
            .gradient = output_gradient,
            .axis = aligned_axis,
            .derive = output_derive,
            .text = name_text};
}

}  // namespace fovea::ops
