// Cross entropy over padded sequences, and with smoothed labels: bodies and gradients.
#include "codegen/ops/losses/cross_entropy.h"

#include "codegen/ops/definitions.h"
#include "codegen/ops/losses/loss_terms.h"
#include "codegen/ops/reduction.h"
#include "codegen/ops/softmax.h"

namespace fovea {

Tensor is_label(const Dim& classes, Tensor labels) {
    const int rank = labels.rank();
    Shape shape;
    for (int i = 0; i < rank; ++i) shape.push(1);
    shape.push(classes);
    Tensor numbers = iota(*labels.graph, shape, rank);
    return eq(numbers, unsqueeze(labels, rank));
}

Tensor smoothed_target(double smoothing, const Dim& classes, Tensor labels) {
    Tensor chosen = is_label(classes, labels);
    if (smoothing == 0) return where(chosen, 1.0, 0.0);
    Tensor rest = full(*labels.graph, {}, smoothing) / (classes + Dim(-1));
    return where(chosen, 1 - smoothing, rest);
}

namespace {

/// target · logit; without smoothing 0 beside the label even where a logit is infinite.
Tensor picked_logits(double smoothing, Tensor shifted, Tensor labels) {
    const Dim classes = shifted.dim(-1);
    if (smoothing == 0) return where(is_label(classes, labels), shifted, 0.0);
    return smoothed_target(smoothing, classes, labels) * shifted;
}

/// Whether a step is inside its sequence: boolean [batch, steps].
Tensor is_inside(const Dim& length, Tensor lens) {
    Tensor steps = iota(*lens.graph, {1, length}, 1);
    return steps < place_axes(lens, 2, {0});
}
/// Whether a step's label is not the padding: boolean [batch, steps].
Tensor is_target(const Node& node, Tensor labels) { return logical_not(eq(labels, node.axis)); }

}  // namespace

Tensor cross_entropy_terms(double smoothing, Tensor logits, Tensor labels) {
    Tensor shifted = logits - stop_gradient(amax(logits, -1, true));
    Tensor log_total = log(sum(exp(shifted), -1, true));
    Tensor picked = sum(picked_logits(smoothing, shifted, labels), -1, true);
    return squeeze(log_total - picked, -1);
}

Tensor loss_of_terms(const Node& node, Tensor terms, Tensor labels, Tensor lens) {
    if (node.op == Op::smoothed_cross_entropy)
        return sum(where(is_target(node, labels), terms, 0.0), 1);
    const Dim length = terms.dim(1);
    return sum(where(is_inside(length, lens), terms, 0.0), 1) / length;
}

namespace ops {

namespace {

Tensor cross_entropy_expand(const Expansion& e) {
    Tensor terms = cross_entropy_terms(0, cast(e.inputs[0], f32), e.inputs[1]);
    return loss_of_terms(e.node(), terms, e.inputs[1], e.inputs[2]);
}

/// (softmax - one at the label) dy / steps inside the sequence, 0 outside.
void cross_entropy_gradient(const Node&, Tensor, Tensor dy, GradientSink& sink) {
    if (!sink.wants(0)) return;
    Tensor logits = sink.input(0);
    Shape shape = logits.shape();
    DType type = logits.dtype();
    Tensor probability = softmax(cast(logits, f32), -1);
    Tensor excess = probability - smoothed_target(0, shape[2], sink.input(1));
    Tensor inside = is_inside(shape[1], sink.input(2));
    Tensor scale = where(inside, place_axes(dy / shape[1], 2, {0}), 0.0);
    sink.add(0, cast(excess * place_axes(scale, 3, {0, 1}), type));
}

/// The terms of the steps with a target.
Tensor smoothed_cross_entropy_expand(const Expansion& e) {
    Tensor terms = cross_entropy_terms(e.node().value, cast(e.inputs[0], f32), e.inputs[1]);
    return loss_of_terms(e.node(), terms, e.inputs[1], {});
}

/// (softmax - target) dy where the step has a target, 0 elsewhere.
void smoothed_cross_entropy_gradient(const Node& node, Tensor, Tensor dy, GradientSink& sink) {
    if (!sink.wants(0)) return;
    Tensor logits = sink.input(0), labels = sink.input(1);
    Shape shape = logits.shape();
    DType type = logits.dtype();
    Tensor probability = softmax(cast(logits, f32), -1);
    Tensor excess = probability - smoothed_target(node.value, shape[2], labels);
    Tensor target = is_target(node, labels);
    Tensor scale = where(target, place_axes(dy, 2, {0}), 0.0);
    sink.add(0, cast(excess * place_axes(scale, 3, {0, 1}), type));
}

Tensor cross_entropy_derive(const Derivation& d) {
    return cross_entropy(d.inputs[0], d.inputs[1], d.inputs[2]);
}
std::vector<IdOperand> cross_entropy_ids(const Graph& graph, const Node& node) {
    const Shape& logits = graph[node.inputs[0]].shape;
    return {{1, Holds::ids, logits[-1]}, {2, Holds::lengths, logits[-2]}};
}

Tensor smoothed_cross_entropy_derive(const Derivation& d) {
    return smoothed_cross_entropy(d.inputs[0], d.inputs[1], d.node.axis, d.node.value);
}
std::vector<IdOperand> smoothed_cross_entropy_ids(const Graph& graph, const Node& node) {
    // cross_entropy without lengths makes it, with no label that is padding.
    const std::string_view function = node.axis < 0 ? "cross_entropy" : "";
    return {{1, Holds::ids, graph[node.inputs[0]].shape[-1], function}};
}
std::string smoothed_cross_entropy_text(const Graph&, const Node& node) {
    return fmt::format("smoothed_cross_entropy padding={} smoothing={}", node.axis,
                       number_text(node.value));
}

}  // namespace

OpDef cross_entropy_def() {
    return {.op = Op::cross_entropy,
            .inputs = {3, 3},
            .gradient = cross_entropy_gradient,
            .expand = cross_entropy_expand,
            .derive = cross_entropy_derive,
            .ids = cross_entropy_ids};
}
OpDef smoothed_cross_entropy_def() {
    return {.op = Op::smoothed_cross_entropy,
            .inputs = {2, 2},
            .gradient = smoothed_cross_entropy_gradient,
            .expand = smoothed_cross_entropy_expand,
            .derive = smoothed_cross_entropy_derive,
            .text = smoothed_cross_entropy_text,
            .ids = smoothed_cross_entropy_ids};
}

}  // namespace ops

}  // namespace fovea
