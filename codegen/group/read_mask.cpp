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

/// So many times the position of the key, of the query, and a number.
struct Positions {
    std::int64_t key = 0, query = 0, number = 0;

    friend Positions operator+(const Positions& a, const Positions& b) {
        return {a.key + b.key, a.query + b.query, a.number + b.number};
    }
    friend Positions operator-(const Positions& a, const Positions& b) {
        return {a.key - b.key, a.query - b.query, a.number - b.number};
    }
};

/// What sums and differences of positions and numbers come to; nothing for anything else.
std::optional<Positions> positions(const Graph& graph, int id, const Shape& scores) {
    if (is_position(graph, id, scores.rank() - 1, scores)) return Positions{.key = 1};
    if (is_position(graph, id, scores.rank() - 2, scores)) return Positions{.query = 1};
    const Node& node = graph[behind_mask_broadcast(graph, id)];
    if (node.dtype != i32) return {};
    if (node.op == Op::constant) return Positions{.number = std::int64_t(node.value)};
    const bool adds = node.op == Op::elementwise && node.function == Elementwise::add;
    const bool subtracts = node.op == Op::elementwise && node.function == Elementwise::sub;
    if (!adds && !subtracts) return {};
    const std::optional<Positions> a = positions(graph, node.inputs[0], scores),
                                   b = positions(graph, node.inputs[1], scores);
    if (!a || !b) return {};
    return adds ? *a + *b : *a - *b;
}

/// The keys for which `rest` is at least 0, or more than 0, where they are a window.
std::optional<KeyWindow> window_of(const Positions& rest, bool more) {
    const std::int64_t distance = rest.number - (more ? 1 : 0);
    if (distance < 0 || distance >= KeyWindow::kUnlimited) return {};
    if (rest.key == -1 && rest.query == 1) return KeyWindow{.after = distance};
    if (rest.key == 1 && rest.query == -1) return KeyWindow{.before = distance};
    return {};
}

/// a < b, or a <= b.
struct Comparison {
    int smaller = 0, larger = 0;
    bool strict = false;
};
std::optional<Comparison> comparison(const Graph& graph, int id) {
    const Node& node = graph[id];
    if (node.op != Op::elementwise) return {};
    if (node.function == Elementwise::lt) return Comparison{node.inputs[0], node.inputs[1], true};
    if (node.function == Elementwise::le) return Comparison{node.inputs[0], node.inputs[1]};
    if (node.function != Elementwise::logical_not) return {};
    const Node& other = graph[behind_mask_broadcast(graph, node.inputs[0])];
    if (other.op != Op::elementwise || graph[other.inputs[0]].dtype != i32) return {};
    if (other.function == Elementwise::lt) return Comparison{other.inputs[1], other.inputs[0]};
    if (other.function == Elementwise::le)
        return Comparison{other.inputs[1], other.inputs[0], true};
    return {};
}

/// |key - query| at most a number: a window to both sides.
std::optional<KeyWindow> window_around(const Graph& graph, const Comparison& compared,
                                       const Shape& scores) {
    const Node& distance = graph[behind_mask_broadcast(graph, compared.smaller)];
    if (distance.op != Op::elementwise || distance.function != Elementwise::abs) return {};
    const std::optional<Positions> inside = positions(graph, distance.inputs[0], scores),
                                   most = positions(graph, compared.larger, scores);
    if (!inside || !most || most->key || most->query || inside->number) return {};
    const auto side = [&](const Positions& far) { return window_of(*most - far, compared.strict); };
    const std::optional<KeyWindow> one = side(*inside), other = side(Positions{} - *inside);
    if (!one || !other) return {};
    return *one & *other;
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
    const std::optional<Comparison> compared = comparison(graph, id);
    if (!compared) return allowed(keep);
    const std::optional<Positions> smaller = positions(graph, compared->smaller, scores),
                                   larger = positions(graph, compared->larger, scores);
    std::optional<KeyWindow> seen = window_around(graph, *compared, scores);
    if (smaller && larger) seen = window_of(*larger - *smaller, compared->strict);
    if (seen) return {.window = *seen, .lens = {}, .allowed = {}};
    if (compared->strict && is_position(graph, compared->smaller, rank - 1, scores))
        if (Tensor lens = lengths({&graph, behind_mask_broadcast(graph, compared->larger)}, scores);
            lens.exists())
            return padding(lens);
    return allowed(keep);
}

}  // namespace

Mask read_mask(Tensor keep, const Shape& scores) { return read(keep, scores); }

}  // namespace fovea
