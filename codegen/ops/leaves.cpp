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

}  // namespace

OpDef leaf_def(Op op) { return {.op = op}; }
/// The interpreter runs its step, and its gradient is another scan (differentiate_scan).
OpDef scan_def() { return {.op = Op::scan}; }
OpDef constant_def() { return {.op = Op::constant, .reference = constant_reference}; }
OpDef extent_def() { return {.op = Op::extent, .reference = extent_reference}; }
OpDef iota_def() { return {.op = Op::iota, .reference = iota_reference}; }
OpDef output_def() {
    return {.op = Op::output, .reference = output_reference, .gradient = output_gradient};
}

}  // namespace fovea::ops
