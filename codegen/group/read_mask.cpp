// Splits a conjunction and matches each condition.
#include "codegen/group/read_mask.h"

#include <optional>

#include "codegen/ops/movement.h"

namespace fovea {

namespace {

int behind_mask_broadcast(const Graph& graph, int id) {
    while (graph[id].op == Op::broadcast) id = graph[id].inputs[0];
    return id;
}

/// Whether a value is the position along axis `axis` of the scores.
bool is_position(const Graph& graph, int id, int axis, const Shape& scores) {
    const Node& node = graph[behind_mask_broadcast(graph, id)];
    return node.op == Op::iota && scores.rank() - node.shape.rank() + node.axis == axis &&
           node.shape[node.axis] == scores[axis];
}

/// A length for each sequence, or for each query of it, as [batch] or [batch, queries]; an empty
/// Tensor for anything else.
Tensor lengths(Tensor x, const Shape& scores) {
    const Shape& shape = x.shape();
    const int rank = scores.rank();
    if (x.dtype() != i32 || shape.rank() != rank || !shape[-1].is_one()) return {};
    if (rank == 4 && !shape[1].is_one()) return {};
    if (!(shape[0] == scores[0])) return {};
    bool by_query = !shape[-2].is_one();
    if (by_query && !(shape[-2] == scores[-2])) return {};
    x = squeeze(x, rank - 1);
    if (!by_query) x = squeeze(x, rank - 2);
    return rank == 4 ? squeeze(x, 1) : x;
}

Mask read(Tensor keep, const Shape& scores) {
    Graph& graph = *keep.graph;
    int id = behind_mask_broadcast(graph, keep.id), rank = scores.rank();
    const Node node = graph[id];
    if (node.op == Op::elementwise && node.function == Elementwise::logical_and)
        return read({&graph, node.inputs[0]}, scores) & read({&graph, node.inputs[1]}, scores);
    bool compares =
        node.op == Op::elementwise && is_position(graph, node.inputs[0], rank - 1, scores);
    if (compares && node.function == Elementwise::le &&
        is_position(graph, node.inputs[1], rank - 2, scores))
        return causal;
    if (compares && node.function == Elementwise::lt)
        if (Tensor lens = lengths({&graph, behind_mask_broadcast(graph, node.inputs[1])}, scores))
            return padding(lens);
    return allowed(keep);
}

}  // namespace

Mask read_mask(Tensor keep, const Shape& scores) { return read(keep, scores); }

}  // namespace fovea
