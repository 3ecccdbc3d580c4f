// Replaces composites by their bodies, again and again while bodies hold composites.
#include "codegen/graph/expand_composites.h"

#include <string>

#include "codegen/graph/rewrite.h"
#include "codegen/graph/scan_function.h"

namespace fovea {

namespace {

Tensor captured(const void* state, int source_id) {
    return const_cast<Rewrite*>(static_cast<const Rewrite*>(state))->mapped(source_id);
}

Tensor expand(Rewrite& rewrite, int id) {
    const Node& node = rewrite.source()[id];
    const OpDef& def = op_def(node.op);
    if (!def.expand)
        throw InternalError("composite " + std::string(row_of(node.op).name) + " has no body");
    std::array<Tensor, kMaxInputs> inputs{};
    for (std::size_t i = 0; i < inputs.size(); ++i)
        if (node.inputs[i] >= 0) inputs[i] = rewrite.mapped(node.inputs[i]);
    return def.expand({rewrite.source(), id, rewrite.target(), inputs, captured, &rewrite});
}

bool is_wanted(const Node& node, bool (*wanted)(const Node& node)) {
    return op_def(node.op).expand && node.region == 0 && wanted(node);
}

}  // namespace

Graph expand_composites(const Graph& graph, bool (*wanted)(const Node& node)) {
    Graph result =
        on_steps(graph, [&](const Graph& step) { return expand_composites(step, wanted); });
    auto any_left = [&] {
        for (const Node& node : result.nodes)
            if (is_wanted(node, wanted)) return true;
        return false;
    };
    while (any_left()) {
        Graph next = Rewrite::run(result, [&](Rewrite& rewrite, int id) -> std::optional<Tensor> {
            if (!is_wanted(rewrite.source()[id], wanted)) return {};
            return expand(rewrite, id);
        });
        result = std::move(next);
    }
    return result;
}

Graph expand_composites(const Graph& graph) {
    return expand_composites(
        graph, [](const Node& node) { return row_of(node.op).op_class == OpClass::composite; });
}

}  // namespace fovea
