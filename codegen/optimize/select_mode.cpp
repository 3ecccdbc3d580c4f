// Makes dropout a product with random factors, or nothing; such factors by themselves are 1 then.
#include "codegen/optimize/select_mode.h"

#include "codegen/graph/rewrite.h"
#include "codegen/ops/dropout.h"
#include "codegen/ops/elementwise.h"

namespace fovea {

namespace {

/// Whether a state stays what it is: nothing has to be stored for it.
bool keeps_state(const Node& output, const Node& value) {
    return output.op == Op::output && output.state && value.state && value.scope == output.scope;
}

/// Factors that a model draws itself, also in a score, are 1.
Graph without_draws(Graph graph) {
    for (Node& node : graph.nodes) {
        if (node.op != Op::random) continue;
        node.op = Op::constant;
        node.value = 1;
        node.site = 0;
    }
    return graph;
}

}  // namespace

Graph select_mode(const Graph& graph, bool training) {
    Graph selected = Rewrite::run(graph, [&](Rewrite& rewrite, int id) -> std::optional<Tensor> {
        const Node& node = rewrite.source()[id];
        if (node.op == Op::attention && !training) {
            Tensor copied = rewrite.copy(id);
            rewrite.target().attentions[std::size_t(copied.node().attribute)].dropout = 0;
            return copied;
        }
        if (node.op == Op::when_training) return rewrite.mapped(node.inputs[training ? 0 : 1]);
        if (node.op == Op::output && node.state) {
            const Tensor value = rewrite.mapped(node.inputs[0]);
            if (keeps_state(node, value.node())) return Tensor{&rewrite.target(), 0};
        }
        if (node.op != Op::dropout) return {};
        Tensor x = rewrite.mapped(node.inputs[0]);
        if (!training) return x;
        return detail::times_random(x, node.value, node.site);
    });
    return training ? selected : without_draws(std::move(selected));
}

}  // namespace fovea
