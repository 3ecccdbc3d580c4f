// Layer normalisation: body and gradient, over one axis (several are merged first).
#include "codegen/ops/layer_norm.h"

#include "codegen/ops/definitions.h"
#include "codegen/ops/reduction.h"

namespace fovea::ops {

namespace {

/// What forward and backward have in common: the normalised x and one over its deviation.
struct Normalised {
    Tensor x, deviation_inverse;
};

Normalised normalise(Tensor x, double eps) {
    Tensor centered = x - mean(x, -1, true);
    Tensor variance = mean(centered * centered, -1, true);
    Tensor inverse = rsqrt(variance + eps);
    return {centered * inverse, inverse};
}

Tensor merged(Tensor x, int first) { return first == x.rank() - 1 ? x : merge_axes(x, first); }

Tensor split(Tensor x, int first, const Shape& shape) {
    return first == shape.rank() - 1 ? x : split_axes(x, first, shape);
}

Tensor layer_norm_expand(const Expansion& e) {
    int first = e.node().axis;
    Shape shape = e.inputs[0].shape();
    Tensor x = merged(e.inputs[0], first);
    Tensor weight = merged(e.inputs[1], 0), bias = merged(e.inputs[2], 0);
    Tensor y = normalise(x, e.node().value).x * weight + bias;
    return split(y, first, shape);
}

void layer_norm_gradient(const Node& node, Tensor, Tensor dy, GradientSink& sink) {
    int first = node.axis;
    Shape shape = dy.shape(), parameter_shape = sink.input(1).shape();
    dy = merged(dy, first);
    Tensor weight = merged(sink.input(1), 0);
    Shape merged_shape = weight.shape();
    Normalised n = normalise(merged(sink.input(0), first), node.value);
    if (sink.wants(0)) {
        Tensor dn = dy * weight;
        Tensor centered = dn - mean(dn, -1, true);
        Tensor along = n.x * mean(dn * n.x, -1, true);
        Tensor dx = n.deviation_inverse * (centered - along);
        sink.add(0, split(dx, first, shape));
    }
    auto add_parameter = [&](int i, Tensor gradient) {
        sink.add(i, split(sum_to(gradient, merged_shape), 0, parameter_shape));
    };
    if (sink.wants(1)) add_parameter(1, dy * n.x);
    if (sink.wants(2)) add_parameter(2, dy);
}

/// Axes in front of those that are normalised; weight and bias lie along these.
AxisUse layer_norm_axis(const Graph&, const Node& node, int operand, int axis) {
    if (operand > 0) return {Along::maps, node.axis + axis};
    return axis < node.axis ? AxisUse{Along::maps, axis} : AxisUse{};
}
Tensor layer_norm_derive(const Derivation& d) {
    return layer_norm(d.inputs[0], d.inputs[1], d.inputs[2], d.node.value);
}
std::string layer_norm_text(const Graph&, const Node& node) {
    return fmt::format("layer_norm axis={} eps={}", node.axis, number_text(node.value));
}

}  // namespace

OpDef layer_norm_def() {
    return {.op = Op::layer_norm,
            .inputs = {3, 3},
            .gradient = layer_norm_gradient,
            .expand = layer_norm_expand,
            .axis = layer_norm_axis,
            .derive = layer_norm_derive,
            .text = layer_norm_text};
}

}  // namespace fovea::ops
