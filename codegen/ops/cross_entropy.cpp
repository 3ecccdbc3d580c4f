// Cross entropy over padded sequences, and with smoothed labels: bodies and gradients.
#include "codegen/ops/cross_entropy.h"

#include "codegen/ops/definitions.h"
#include "codegen/ops/reduction.h"
#include "codegen/ops/softmax.h"

namespace fovea::ops {

namespace {

/// Whether a class is the label: boolean [batch, steps, classes].
Tensor is_label(const Shape& logits, Tensor labels) {
    Tensor classes = iota(*labels.graph, {1, 1, logits[2]}, 2);
    return eq(classes, place_axes(labels, 3, {0, 1}));
}

/// Whether a step is inside its sequence: boolean [batch, steps].
Tensor is_inside(const Shape& logits, Tensor lens) {
    Tensor steps = iota(*lens.graph, {1, logits[1]}, 1);
    return steps < place_axes(lens, 2, {0});
}

/// log Σ exp - the label's logit, [batch, steps]; shares its nodes with softmax's body.
Tensor cross_entropy_expand(const Expansion& e) {
    Tensor x = cast(e.inputs[0], f32);
    Shape shape = x.shape();
    Tensor shifted = x - stop_gradient(amax(x, -1, true));
    Tensor log_total = log(sum(exp(shifted), -1, true));
    Tensor picked = sum(where(is_label(shape, e.inputs[1]), shifted, 0.0), -1, true);
    Tensor term = squeeze(log_total - picked, 2);
    return sum(where(is_inside(shape, e.inputs[2]), term, 0.0), 1) / shape[1];
}

/// (softmax - one at the label) dy / steps inside the sequence, 0 outside.
void cross_entropy_gradient(const Node&, Tensor, Tensor dy, GradientSink& sink) {
    if (!sink.wants(0)) return;
    Tensor logits = sink.input(0);
    Shape shape = logits.shape();
    DType type = logits.dtype();
    Tensor probability = softmax(cast(logits, f32), -1);
    Tensor excess = probability - where(is_label(shape, sink.input(1)), 1.0, 0.0);
    Tensor inside = is_inside(shape, sink.input(2));
    Tensor scale = where(inside, place_axes(dy / shape[1], 2, {0}), 0.0);
    sink.add(0, cast(excess * place_axes(scale, 3, {0, 1}), type));
}

/// Whether a step's label is not the padding: boolean [batch, steps].
Tensor is_target(const Node& node, Tensor labels) { return logical_not(eq(labels, node.axis)); }

/// At the label 1 - ε, elsewhere ε / (classes - 1): [batch, steps, classes].
Tensor smoothed_target(const Node& node, const Shape& logits, Tensor labels) {
    double smoothing = node.value;
    Tensor chosen = is_label(logits, labels);
    if (smoothing == 0) return where(chosen, 1.0, 0.0);
    Tensor rest = full(*labels.graph, {}, smoothing) / (logits[2] + Dim(-1));
    return where(chosen, 1 - smoothing, rest);
}

/// target · logit; without smoothing 0 beside the label even where a logit is infinite.
Tensor picked_logits(const Node& node, Tensor shifted, Tensor labels) {
    if (node.value == 0) return where(is_label(shifted.shape(), labels), shifted, 0.0);
    const Shape shape = shifted.shape();
    return smoothed_target(node, shape, labels) * shifted;
}

/// log Σ exp - Σ target · logit over the steps with a target; shares its nodes with softmax's body.
Tensor smoothed_cross_entropy_expand(const Expansion& e) {
    Tensor x = cast(e.inputs[0], f32), labels = e.inputs[1];
    Tensor shifted = x - stop_gradient(amax(x, -1, true));
    Tensor log_total = log(sum(exp(shifted), -1, true));
    Tensor picked = picked_logits(e.node(), shifted, labels);
    Tensor term = squeeze(log_total - sum(picked, -1, true), 2);
    return sum(where(is_target(e.node(), labels), term, 0.0), 1);
}

/// (softmax - target) dy where the step has a target, 0 elsewhere.
void smoothed_cross_entropy_gradient(const Node& node, Tensor, Tensor dy, GradientSink& sink) {
    if (!sink.wants(0)) return;
    Tensor logits = sink.input(0), labels = sink.input(1);
    Shape shape = logits.shape();
    DType type = logits.dtype();
    Tensor probability = softmax(cast(logits, f32), -1);
    Tensor excess = probability - smoothed_target(node, shape, labels);
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
    return {{1, Holds::ids, graph[node.inputs[0]].shape[-1]}};
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

}  // namespace fovea::ops
