// Batch normalisation: body and gradient.
#include "codegen/ops/batch_norm.h"

#include "codegen/ops/definitions.h"
#include "codegen/ops/reduction.h"

namespace fovea::ops {

namespace {

/// What forward and backward have in common: the normalised x and one over its deviation.
struct NormalisedFeatures {
    Tensor x, deviation_inverse;
};

NormalisedFeatures normalise_features(Tensor x, int axis, double eps) {
    Tensor centered = x - detail::mean_of_features(x, axis);
    Tensor variance = detail::mean_of_features(centered * centered, axis);
    Tensor inverse = rsqrt(variance + eps);
    return {centered * inverse, inverse};
}

Tensor batch_norm_expand(const Expansion& e) {
    Tensor x = e.inputs[0];
    int axis = e.node().axis;
    Tensor weight = place_axes(e.inputs[1], x.rank(), {axis});
    Tensor y = normalise_features(x, axis, e.node().value).x * weight;
    return y + place_axes(e.inputs[2], x.rank(), {axis});
}

void batch_norm_gradient(const Node& node, Tensor, Tensor dy, GradientSink& sink) {
    int axis = node.axis, rank = dy.rank();
    NormalisedFeatures n = normalise_features(sink.input(0), axis, node.value);
    if (sink.wants(0)) {
        Tensor dn = dy * place_axes(sink.input(1), rank, {axis});
        Tensor centered = dn - detail::mean_of_features(dn, axis);
        Tensor along = n.x * detail::mean_of_features(dn * n.x, axis);
        sink.add(0, n.deviation_inverse * (centered - along));
    }
    auto add_parameter = [&](int i, Tensor gradient) {
        for (int k = rank - 1; k >= 0; --k)
            if (k != axis) gradient = sum(gradient, k);
        sink.add(i, gradient);
    };
    if (sink.wants(1)) add_parameter(1, dy * n.x);
    if (sink.wants(2)) add_parameter(2, dy);
}

Tensor batch_norm_derive(const Derivation& d) {
    return batch_norm(d.inputs[0], d.inputs[1], d.inputs[2], d.node.axis, d.node.value);
}
std::string batch_norm_text(const Graph&, const Node& node) {
    return fmt::format("batch_norm axis={} eps={}", node.axis, number_text(node.value));
}

}  // namespace

OpDef batch_norm_def() {
    return {.op = Op::batch_norm,
            .inputs = {3, 3},
            .gradient = batch_norm_gradient,
            .expand = batch_norm_expand,
            .derive = batch_norm_derive,
            .text = batch_norm_text};
}

}  // namespace fovea::ops
