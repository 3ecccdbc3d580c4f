// Comparison of nodes and of their attributes.
#include "codegen/graph/same_node.h"

#include <algorithm>
#include <bit>

#include "codegen/graph/op_def.h"

namespace fovea {

namespace {

/// The labels of the three lists in order of first appearance, in 32 numbers at most.
std::array<int, 3 * Shape::kMaxRank + 3> canonical(const EinsumAxes& axes) {
    std::array<int, 3 * Shape::kMaxRank + 3> result{};
    std::array<int, 128> number{};
    int used = 0;
    std::size_t at = 0;
    for (const EinsumAxes::List* list : {&axes.a, &axes.b, &axes.out}) {
        result[at++] = list->count;
        for (int i = 0; i < list->count; ++i) {
            int& n = number[std::size_t(list->label[std::size_t(i)])];
            if (!n) n = ++used;
            result[at++] = n;
        }
    }
    return result;
}

bool same_attribute(const Graph& graph_a, const Node& a, const Graph& graph_b, const Node& b) {
    if ((a.attribute < 0) != (b.attribute < 0)) return false;
    if (a.attribute < 0) return true;
    std::size_t i = std::size_t(a.attribute), k = std::size_t(b.attribute);
    switch (op_def(a.op).attribute) {
        case Attribute::einsum: return same_axes(graph_a.einsums[i], graph_b.einsums[k]);
        case Attribute::rearrange: return same_axes(graph_a.rearranges[i], graph_b.rearranges[k]);
        case Attribute::attention: {
            const AttentionAttributes &x = graph_a.attentions[i], &y = graph_b.attentions[k];
            return x.window == y.window && x.has_lens == y.has_lens &&
                   x.has_allowed == y.has_allowed && x.has_segments == y.has_segments;
        }
        case Attribute::logit_curve: return graph_a.logit_curves[i] == graph_b.logit_curves[k];
        default: return false;
    }
}

/// Whether it is made again of values that are not: it equals the first value of a checkpoint, and
/// is not to be that. What follows differs by its inputs.
bool starts_again(const Graph& graph, const Node& node) {
    return node.recomputed && node.inputs[0] > 0 &&
           std::ranges::none_of(node.inputs,
                                [&](int input) { return input > 0 && graph[input].recomputed; });
}

}  // namespace

bool same_axes(const EinsumAxes& a, const EinsumAxes& b) { return canonical(a) == canonical(b); }

bool same_axes(const RearrangeAxes& a, const RearrangeAxes& b) {
    if (a.count != b.count || a.input_group != b.input_group || a.output_group != b.output_group)
        return false;
    for (int i = 0; i < a.count; ++i) {
        std::size_t k = std::size_t(i);
        if (!(a.axis[k] == b.axis[k]) || a.order[k] != b.order[k]) return false;
    }
    return true;
}

bool same_function(const Graph& graph_a, int a, const Graph& graph_b, int b) {
    const Node &x = graph_a[a], &y = graph_b[b];
    return !op_def(x.op).unique && settings_of(x) == settings_of(y) && x.shape == y.shape &&
           x.region == y.region && x.dim == y.dim &&
           starts_again(graph_a, x) == starts_again(graph_b, y) &&
           same_attribute(graph_a, x, graph_b, y);
}

bool is_same_loss(const Graph& graph, int a, int b) {
    const Node &x = graph[a], &y = graph[b];
    return x.op == Op::linear_cross_entropy && y.op == x.op && x.inputs == y.inputs &&
           x.value == y.value && x.recomputed == y.recomputed && same_attribute(graph, x, graph, y);
}

std::uint64_t hash_of_function(const Graph& graph, int id) {
    const Node& node = graph[id];
    std::uint64_t hash = std::uint64_t(node.op);
    auto mix = [&](std::uint64_t value) { hash = (hash ^ value) * 1099511628211u + 1; };
    mix(std::uint64_t(node.function));
    mix(std::uint64_t(node.shape.rank()));
    mix(std::uint64_t(node.axis));
    mix(std::uint64_t(node.stride));
    mix(std::bit_cast<std::uint64_t>(node.value));
    return hash;
}

}  // namespace fovea
