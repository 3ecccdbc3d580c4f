// Hash-consing: each node is looked up among those already kept.
#include "codegen/optimize/common_subexpressions.h"

#include <algorithm>
#include <unordered_map>

#include "codegen/graph/rewrite.h"
#include "codegen/graph/same_node.h"

namespace fovea {

namespace {

bool commutes(const Node& node) {
    if (node.op != Op::elementwise) return false;
    switch (node.function) {
        case Elementwise::add:
        case Elementwise::mul:
        case Elementwise::eq:
        case Elementwise::logical_and:
        case Elementwise::logical_or: return true;
        default: return false;
    }
}

/// The node's inputs in the target; sorted where their order means nothing.
Inputs mapped_inputs(Rewrite& rewrite, const Node& node) {
    Inputs inputs = node.inputs;
    for (int& input : inputs)
        if (input >= 0) input = rewrite.mapped(input).id;
    if (commutes(node) && inputs[0] > inputs[1]) std::swap(inputs[0], inputs[1]);
    return inputs;
}

struct Kept {
    int source_id, target_id;
    Inputs inputs;
};

}  // namespace

Graph common_subexpressions(const Graph& graph) {
    std::unordered_multimap<std::uint64_t, Kept> kept;
    return Rewrite::run(graph, [&](Rewrite& rewrite, int id) -> std::optional<Tensor> {
        Inputs inputs = mapped_inputs(rewrite, graph[id]);
        std::uint64_t hash = hash_of_function(graph, id);
        for (int input : inputs) hash = (hash ^ std::uint64_t(input)) * 1099511628211u;
        auto [first, last] = kept.equal_range(hash);
        for (auto it = first; it != last; ++it)
            if (it->second.inputs == inputs &&
                same_function(graph, id, graph, it->second.source_id))
                return Tensor{&rewrite.target(), it->second.target_id};
        Tensor copied = rewrite.copy(id);
        kept.emplace(hash, Kept{id, copied.id, inputs});
        return copied;
    });
}

}  // namespace fovea
