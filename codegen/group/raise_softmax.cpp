// Finds exp(x) / Σ exp(x), with or without the row's maximum subtracted, and masks before it.
#include "codegen/group/raise_softmax.h"

#include <cmath>

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

/// What a value of this shape is behind views that leave each element in its place: squeezed and
/// put back, without gradient.
int behind_views(const Graph& graph, int id) {
    const Shape& shape = graph[id].shape;
    int found = id;
    for (;;) {
        const Node& node = graph[id];
        const bool reshapes =
            node.op == Op::rearrange && is_reshape(graph.rearranges[std::size_t(node.attribute)]);
        const bool stops = node.op == Op::stop_gradient && !has_own_gradient(node);
        if (!reshapes && !stops) return found;
        id = node.inputs[0];
        if (graph[id].shape == shape) found = id;
    }
}

/// Whether `id` is the reduction of `of` over one axis, which it keeps or is repeated along; gives
/// the axis.
std::optional<int> reduced_axis(const Graph& graph, int id, Reduction reduction, int of) {
    id = behind_views(graph, id);
    if (graph[id].op == Op::broadcast && graph[id].shape == graph[of].shape)
        id = behind_views(graph, graph[id].inputs[0]);
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

/// The condition of where(keep, x, -1e6 or less) over scores; an empty Tensor for anything else.
Tensor mask_of(Tensor scores) {
    const Node& node = scores.node();
    if (!is_function(node, Elementwise::where) || node.shape.rank() < 2) return {};
    const Node& hidden = (*scores.graph)[node.inputs[2]];
    bool large = hidden.op == Op::constant && hidden.value <= -1e6 && std::isfinite(hidden.value);
    return large ? Tensor{scores.graph, node.inputs[0]} : Tensor();
}

Tensor raised_softmax(Tensor x, int axis) {
    Tensor keep = axis == x.rank() - 1 ? mask_of(x) : Tensor();
    if (!keep.exists()) return softmax(x, axis);
    Tensor scores{x.graph, x.node().inputs[1]};
    Shape shape = x.shape();
    return masked_softmax(broadcast(scores, shape), allowed(keep));
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
