// softmax and masked softmax: bodies and gradients.
#include "codegen/ops/softmax.h"

#include "codegen/ops/definitions.h"
#include "codegen/ops/reduction.h"

namespace fovea::ops {

namespace {

// The lowest float32: beside any score it gives exactly 0, and it is finite, so that the weights of
// a row that sees no key are equal.
constexpr double kHidden = -3.4028234663852886e38;

/// The permutation that swaps `axis` and the last one.
FixedArray<signed char, Shape::kMaxRank> swap_with_last(int rank, int axis) {
    FixedArray<signed char, Shape::kMaxRank> order{};
    for (int i = 0; i < rank; ++i) order[std::size_t(i)] = (signed char)i;
    std::swap(order[std::size_t(axis)], order[std::size_t(rank - 1)]);
    return order;
}

Tensor over_last_axis(Tensor x) {
    Tensor shifted = exp(x - stop_gradient(amax(x, -1, true)));
    return shifted * (1.0 / sum(shifted, -1, true));
}

Tensor softmax_expand(const Expansion& e) {
    Tensor x = e.inputs[0];
    int axis = e.node().axis;
    if (axis == x.rank() - 1) return over_last_axis(x);
    auto order = swap_with_last(x.rank(), axis);
    return permute(over_last_axis(permute(x, order)), order);
}

/// y (dy - Σ dy y) over the last axis.
Tensor gradient_over_last_axis(Tensor y, Tensor dy) { return y * (dy - sum(dy * y, -1, true)); }

void softmax_gradient(const Node& node, Tensor y, Tensor dy, GradientSink& sink) {
    if (!sink.wants(0)) return;
    if (node.axis == y.rank() - 1) return sink.add(0, gradient_over_last_axis(y, dy));
    auto order = swap_with_last(y.rank(), node.axis);
    Tensor rows = permute(y, order), row_gradients = permute(dy, order);
    sink.add(0, permute(gradient_over_last_axis(rows, row_gradients), order));
}

Mask mask_of(const Graph& graph, const Node& node, Tensor lens, Tensor allowed) {
    const AttentionAttributes& attributes = graph.attentions[std::size_t(node.attribute)];
    return {.is_causal = attributes.causal,
            .lens = lens,
            .allowed = allowed,
            .masked_rows = node.masked_rows};
}

Tensor masked_softmax_expand(const Expansion& e) {
    Tensor x = e.inputs[0];
    Shape shape = x.shape();
    Mask mask = mask_of(e.source, e.node(), e.inputs[3], e.inputs[4]);
    Tensor kept = kept_keys(e.target, shape, mask);
    if (!kept) return over_last_axis(x);
    Tensor y = over_last_axis(where(kept, x, kHidden));
    return mask.masked_rows == MaskedRows::zero ? where(kept, y, 0.0) : y;
}

/// As softmax's where a key is seen, 0 elsewhere: a row that is masked whole gives none. Hidden
/// weights are constant zeros, so that kernels skip them.
void masked_softmax_gradient(const Node& node, Tensor y, Tensor dy, GradientSink& sink) {
    if (!sink.wants(0)) return;
    Shape shape = y.shape();
    auto input = [&](int i) { return node.inputs[std::size_t(i)] >= 0 ? sink.input(i) : Tensor(); };
    Tensor kept = kept_keys(*y.graph, shape, mask_of(*y.graph, node, input(3), input(4)));
    Tensor seen = kept ? where(kept, y, 0.0) : y;
    sink.add(0, gradient_over_last_axis(seen, dy));
}

}  // namespace

OpDef softmax_def() {
    return {.op = Op::softmax, .gradient = softmax_gradient, .expand = softmax_expand};
}
OpDef masked_softmax_def() {
    return {.op = Op::masked_softmax,
            .gradient = masked_softmax_gradient,
            .expand = masked_softmax_expand};
}

}  // namespace fovea::ops
