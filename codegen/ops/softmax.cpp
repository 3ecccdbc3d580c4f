// softmax and masked softmax: bodies and gradients.
#include "codegen/ops/softmax.h"

#include "codegen/ops/attention/mask_attributes.h"
#include "codegen/ops/definitions.h"
#include "codegen/ops/reduction.h"

namespace fovea::ops {

namespace {

// The lowest float32: beside any score it gives exactly 0, and it is finite, so that the weights of
// a row that sees no key are equal. bfloat16 would round it to -infinity.
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

Tensor masked_softmax_expand(const Expansion& e) {
    const DType type = e.node().dtype;
    Tensor x = cast(e.inputs[0], f32);
    Shape shape = x.shape();
    Mask mask = mask_of(e.source, e.node(), e.inputs);
    Tensor kept = kept_keys(e.target, shape, mask);
    if (!kept.exists()) return cast(over_last_axis(x), type);
    Tensor y = over_last_axis(where(kept, x, kHidden));
    return cast(mask.masked_rows == MaskedRows::zero ? where(kept, y, 0.0) : y, type);
}

/// As softmax's where a key is seen, 0 elsewhere: a row that is masked whole gives none. Hidden
/// weights are constant zeros, so that kernels skip them.
void masked_softmax_gradient(const Node& node, Tensor y, Tensor dy, GradientSink& sink) {
    if (!sink.wants(0)) return;
    Shape shape = y.shape();
    auto input = [&](int i) { return node.inputs[std::size_t(i)] >= 0 ? sink.input(i) : Tensor(); };
    Tensor kept = kept_keys(*y.graph, shape, mask_of(*y.graph, node, input(3), input(4), input(5)));
    Tensor seen = kept.exists() ? where(kept, y, 0.0) : y;
    sink.add(0, gradient_over_last_axis(seen, dy));
}

AxisUse softmax_axis(const Graph&, const Node& node, int, int axis) {
    return axis == node.axis ? AxisUse{} : AxisUse{Along::maps, axis};
}
Tensor softmax_batch(const Batch& b) {
    Node copy = b.node();
    copy.shape = b.input(0).shape();
    copy.inputs = inputs_of({b.input(0).id});
    copy.axis += b.axes;
    return make(b.target, copy);
}
Tensor softmax_derive(const Derivation& d) { return softmax(d.inputs[0], d.node.axis); }

Tensor masked_softmax_derive(const Derivation& d) {
    return masked_softmax(d.inputs[0], mask_of(d.source, d.node, d.inputs));
}
std::string masked_softmax_text(const Graph& graph, const Node& node) {
    return "masked_softmax" + mask_text(graph, node);
}
std::vector<IdOperand> masked_softmax_ids(const Graph&, const Node& node) {
    if (node.inputs[3] <= 0) return {};
    return {{3, Holds::lengths, node.shape[-1]}};
}

}  // namespace

OpDef softmax_def() {
    return {.op = Op::softmax,
            .inputs = {1, 1},
            .gradient = softmax_gradient,
            .expand = softmax_expand,
            .axis = softmax_axis,
            .batch = softmax_batch,
            .derive = softmax_derive,
            .why_not_derivable = why_no_axis,
            .text = axis_text};
}
OpDef masked_softmax_def() {
    return {.op = Op::masked_softmax,
            .inputs = {1, 6},
            .attribute = Attribute::attention,
            .gradient = masked_softmax_gradient,
            .expand = masked_softmax_expand,
            .derive = masked_softmax_derive,
            .why_not_derivable = why_not_masked,
            .text = masked_softmax_text,
            .ids = masked_softmax_ids};
}

}  // namespace fovea::ops
