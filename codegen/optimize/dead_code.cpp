// Marks what outputs depend on and drops the rest.
#include "codegen/optimize/dead_code.h"

#include <vector>

#include "codegen/graph/rewrite.h"

namespace fovea {

namespace {

std::vector<bool> live_nodes(const Graph& graph) {
    std::vector<bool> live(graph.nodes.size(), false),
        live_region(std::size_t(graph.regions), false);
    for (int id = int(graph.nodes.size()) - 1; id > 0; --id) {
        const Node& node = graph[id];
        bool keep = node.op == Op::output || node.op == Op::input || node.op == Op::parameter ||
                    live_region[std::size_t(node.region)];
        if (!keep && !live[std::size_t(id)]) continue;
        live[std::size_t(id)] = true;
        for (int input : node.inputs)
            if (input > 0) live[std::size_t(input)] = true;
        if (node.op == Op::attention)
            live_region[std::size_t(graph.attentions[std::size_t(node.attribute)].region)] = true;
    }
    return live;
}

}  // namespace

Graph dead_code(const Graph& graph) {
    std::vector<bool> live = live_nodes(graph);
    return Rewrite::run(graph, [&](Rewrite& rewrite, int id) -> std::optional<Tensor> {
        if (live[std::size_t(id)]) return {};
        return Tensor{&rewrite.target(), 0};
    });
}

}  // namespace fovea
