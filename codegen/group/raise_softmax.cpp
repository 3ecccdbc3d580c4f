// Finds exp(x) / Σ exp(x), with or without the row's maximum subtracted, and masks before it.
#include "codegen/group/raise_softmax.h"

#include <cmath>
#include <set>
#include <vector>

#include "codegen/graph/op_def.h"
#include "codegen/graph/rewrite.h"
#include "codegen/ops/reduction.h"
#include "codegen/ops/softmax.h"

namespace fovea {

namespace {

bool is_function(const Node& node, Elementwise function) {
    return node.op == Op::elementwise && node.function == function;
}

/// Whether a rearrangement leaves the elements in their order: axes are split, merged, added and
/// dropped, none is moved.
bool is_reshape(const RearrangeAxes& axes) {
    for (int i = 0; i < axes.count; ++i)
        if (axes.order[std::size_t(i)] != i) return false;
    return true;
}

enum class Gradient { kept, stopped };

/// What a value of this shape is behind views that leave each element in its place: squeezed and
/// put back, or, where its gradient may be stopped, without gradient.
int behind_views(const Graph& graph, int id, Gradient gradient) {
    const Shape& shape = graph[id].shape;
    int found = id;
    for (;;) {
        const Node& node = graph[id];
        const bool reshapes =
            node.op == Op::rearrange && is_reshape(graph.rearranges[std::size_t(node.attribute)]);
        const bool stops = gradient == Gradient::stopped && node.op == Op::stop_gradient &&
                           !has_own_gradient(node);
        if (!reshapes && !stops) return found;
        id = node.inputs[0];
        if (graph[id].shape == shape) found = id;
    }
}

/// Whether `id` is the reduction of `of` over one axis, which it keeps or is repeated along; gives
/// the axis. A row's maximum may have no gradient: softmax does not depend on it.
std::optional<int> reduced_axis(const Graph& graph, int id, Reduction reduction, int of) {
    const Gradient gradient = reduction == Reduction::max ? Gradient::stopped : Gradient::kept;
    id = behind_views(graph, id, gradient);
    if (graph[id].op == Op::broadcast && graph[id].shape == graph[of].shape)
        id = behind_views(graph, graph[id].inputs[0], gradient);
    const Node& node = graph[id];
    if (node.op != Op::reduce || node.reduction != reduction || node.inputs[0] != of) return {};
    bool one_axis = node.axis && !(node.axis & (node.axis - 1));
    if (!one_axis) return {};
    int axis = 0;
    while (!(node.axis >> axis & 1)) ++axis;
    return axis;
}

struct FoundSoftmax {
    int x = 0, axis = 0;
};

std::optional<std::string> find_softmax(const Graph& graph, int id, FoundSoftmax& found) {
    const Node& quotient = graph[id];
    if (!is_function(quotient, Elementwise::div)) return "it is not a quotient";
    int numerator = quotient.inputs[0];
    if (!is_function(graph[numerator], Elementwise::exp)) return "its numerator is not an exp";
    auto axis = reduced_axis(graph, quotient.inputs[1], Reduction::sum, numerator);
    if (!axis) return "its denominator is not the sum of the numerator over one axis";
    found = {graph[numerator].inputs[0], *axis};
    const Node& shifted = graph[found.x];
    if (!is_function(shifted, Elementwise::sub)) return {};
    auto of_max = reduced_axis(graph, shifted.inputs[1], Reduction::max, shifted.inputs[0]);
    if (of_max == axis) found.x = shifted.inputs[0];
    return {};
}

/// The score that a number hides keys with: -1e6 or less, and finite.
std::optional<double> hiding_score(const Node& node) {
    if (node.op != Op::constant || node.value > -1e6 || !std::isfinite(node.value)) return {};
    return node.value;
}

/// Whether such a number has a part in scores: a mask inside of them. What conditions compare with
/// has none.
bool has_hiding_score(const Graph& graph, int scores) {
    std::vector<int> left{scores};
    std::set<int> seen;
    while (!left.empty()) {
        const int id = left.back();
        left.pop_back();
        const Node& node = graph[id];
        if (node.dtype == DType::boolean || !seen.insert(id).second) continue;
        if (hiding_score(node)) return true;
        if (node.op != Op::elementwise && node.op != Op::broadcast && node.op != Op::rearrange)
            continue;
        for (int input : node.inputs)
            if (input > 0) left.push_back(input);
    }
    return false;
}

struct MaskedScores {
    Tensor scores, keep;  // empty without a mask
};

/// Takes where(keep, x, -1e6 or less) apart, also one inside of another with the same number. With
/// another number inside of the scores, a row may see keys that are hidden less: it has no mask.
MaskedScores take_mask_off(Tensor x) {
    const Graph& graph = *x.graph;
    MaskedScores found{x, {}};
    std::optional<double> number;
    for (;;) {
        const Node& node = found.scores.node();
        if (!is_function(node, Elementwise::where) || !(node.shape == x.shape())) break;
        const auto hidden = hiding_score(graph[node.inputs[2]]);
        if (!hidden || (number && *number != *hidden)) break;
        number = hidden;
        const Tensor keep{x.graph, node.inputs[0]};
        found.keep = found.keep.exists() ? logical_and(found.keep, keep) : keep;
        found.scores = {x.graph, node.inputs[1]};
    }
    if (has_hiding_score(graph, found.scores.id)) return {x, {}};
    return found;
}

Tensor raised_softmax(Tensor x, int axis) {
    if (axis != x.rank() - 1 || x.rank() < 2) return softmax(x, axis);
    const Shape shape = x.shape();
    const MaskedScores masked = take_mask_off(x);
    if (!masked.keep.exists()) return softmax(x, axis);
    return masked_softmax(broadcast(masked.scores, shape), allowed(masked.keep));
}

}  // namespace

std::optional<std::string> why_not_softmax(const Graph& graph, int id) {
    FoundSoftmax found;
    return find_softmax(graph, id, found);
}

Graph raise_softmax(const Graph& graph) {
    return Rewrite::run(graph, [&](Rewrite& rewrite, int id) -> std::optional<Tensor> {
        const Node& node = graph[id];
        if (node.op == Op::softmax)
            return raised_softmax(rewrite.mapped(node.inputs[0]), node.axis);
        FoundSoftmax found;
        if (find_softmax(graph, id, found)) return {};
        return raised_softmax(rewrite.mapped(found.x), found.axis);
    });
}

}  // namespace fovea
