// Its body in plain ops, which kernels are checked against, and its gradient rule.
#include "codegen/ops/losses/linear_cross_entropy.h"

#include "codegen/ops/contraction.h"
#include "codegen/ops/definitions.h"
#include "codegen/ops/losses/loss_terms.h"
#include "codegen/ops/softmax.h"

namespace fovea {

Tensor linear_cross_entropy(Tensor x, Tensor weight, Tensor bias, Tensor labels, double smoothing,
                            const LogitCurve& curve) {
    Inputs inputs = inputs_of({x.id, weight.id, bias.exists() ? bias.id : -1, labels.id});
    x.graph->logit_curves.push_back(curve);
    return make(*x.graph, {.op = Op::linear_cross_entropy,
                           .dtype = f32,
                           .shape = {x.dim(0)},
                           .inputs = inputs,
                           .value = smoothing,
                           .axis = int(LossResult::terms),
                           .attribute = int(x.graph->logit_curves.size()) - 1});
}

Tensor on_curve(const LogitCurve& curve, Tensor z) {
    if (curve.inner != 1) z = z * curve.inner;
    return curve.outer == 0 ? z : tanh(z) * curve.outer;
}

Tensor slope_at(const LogitCurve& curve, Tensor y) {
    if (curve.outer == 0) return full(*y.graph, {}, curve.inner);
    const Tensor tanh = y * (1 / curve.outer);
    return (1 - tanh * tanh) * (curve.inner * curve.outer);
}

Tensor through_curve(const LogitCurve& curve, Tensor gradient, Tensor y) {
    return curve == LogitCurve{} ? gradient : gradient * slope_at(curve, y);
}

namespace ops {

namespace {

/// Σ over the one label that the result lacks.
Tensor product(Tensor a, std::initializer_list<int> of_a, Tensor b, std::initializer_list<int> of_b,
               std::initializer_list<int> out) {
    EinsumAxes axes;
    for (int label : of_a) axes.a.push(label);
    for (int label : of_b) axes.b.push(label);
    for (int label : out) axes.out.push(label);
    return einsum(a, b, axes, Location{});
}

Tensor linear_cross_entropy_expand(const Expansion& e) {
    const Node& node = e.node();
    const auto input = [&](LossInput which) { return e.inputs[std::size_t(which)]; };
    const Tensor x = input(LossInput::x), weight = input(LossInput::weight),
                 labels = input(LossInput::labels);
    constexpr int kRow = 0, kClass = 1, kWidth = 2;
    Tensor logits = product(x, {kRow, kWidth}, weight, {kClass, kWidth}, {kRow, kClass});
    if (const Tensor bias = input(LossInput::bias); bias.exists()) logits = logits + bias;
    const LogitCurve& curve = curve_of(e.source, node);
    logits = on_curve(curve, logits);
    if (loss_result(node) == LossResult::terms)
        return cross_entropy_terms(node.value, logits, labels);
    const Tensor probability = softmax(logits, -1);
    const Tensor excess = probability - smoothed_target(node.value, weight.dim(0), labels);
    const Tensor of_logits =
        through_curve(curve, excess * unsqueeze(input(LossInput::cotangent), 1), logits);
    switch (loss_result(node)) {
        case LossResult::x:
            return product(of_logits, {kRow, kClass}, weight, {kClass, kWidth}, {kRow, kWidth});
        case LossResult::weight:
            return product(of_logits, {kRow, kClass}, x, {kRow, kWidth}, {kClass, kWidth});
        default: return sum(of_logits, 0);
    }
}

void linear_cross_entropy_gradient(const Node& node, Tensor, Tensor dy, GradientSink& sink) {
    for (LossResult result : {LossResult::x, LossResult::weight, LossResult::bias}) {
        const int i = int(result) - 1;
        if (node.inputs[std::size_t(i)] < 0 || !sink.wants(i)) continue;
        Node copy = node;
        copy.inputs[std::size_t(LossInput::cotangent)] = dy.id;
        copy.axis = int(result);
        copy.shape = sink.input(i).shape();
        sink.add(i, make(*dy.graph, copy));
    }
}

std::string linear_cross_entropy_text(const Graph& graph, const Node& node) {
    constexpr const char* kResults[]{"terms", "gradient of x", "gradient of weight",
                                     "gradient of bias"};
    std::string text = fmt::format("linear_cross_entropy {}", kResults[std::size_t(node.axis)]);
    if (node.value > 0) text += " smoothing=" + number_text(node.value);
    const LogitCurve& curve = curve_of(graph, node);
    if (curve.outer != 0)
        text += fmt::format(" logits={} tanh({} z)", number_text(curve.outer),
                            number_text(curve.inner));
    else if (curve.inner != 1) text += fmt::format(" logits={} z", number_text(curve.inner));
    return text;
}

std::vector<IdOperand> linear_cross_entropy_ids(const Graph& graph, const Node& node) {
    const Shape& weight = graph[loss_input(node, LossInput::weight)].shape;
    return {{int(LossInput::labels), Holds::ids, weight[0]}};
}

}  // namespace

OpDef linear_cross_entropy_def() {
    return {.op = Op::linear_cross_entropy,
            .inputs = {3, 5},
            .attribute = Attribute::logit_curve,
            .gradient = linear_cross_entropy_gradient,
            .expand = linear_cross_entropy_expand,
            .text = linear_cross_entropy_text,
            .ids = linear_cross_entropy_ids};
}

}  // namespace ops

}  // namespace fovea
