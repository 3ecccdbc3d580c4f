// A copy of each attention without its values gives the weights.
#include "codegen/graph/tap_attention.h"

#include <algorithm>
#include <map>
#include <string>

#include "codegen/graph/rewrite.h"

namespace fovea {

namespace {

bool is_attention(const Node& node) {
    return node.op == Op::attention && node.region == 0 && node.inputs[2] >= 0;
}

/// The weights of the attention `id` of the source, with a score region of their own.
Tensor weights_of(Rewrite& rewrite, int id) {
    Graph& target = rewrite.target();
    const int first = int(target.nodes.size()), outer = rewrite.source()[id].region;
    const Tensor copied = rewrite.copy(id);
    const int region = target.regions++;
    for (int added = first; added < int(target.nodes.size()); ++added)
        if (target[added].region != outer) target[added].region = region;
    Node& node = target[copied.id];
    const Node& keys = target[node.inputs[1]];
    node.inputs[2] = -1;
    node.shape = target[node.inputs[0]].shape;
    node.shape[-1] = keys.shape[-2];
    AttentionAttributes& attributes = target.attentions[std::size_t(node.attribute)];
    attributes.region = region;
    attributes.dropout = 0;
    return copied;
}

}  // namespace

bool has_attention(const Graph& graph) {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(), is_attention);
}

Graph tap_attention(const Graph& graph) {
    std::map<std::string, int> taken;
    return Rewrite::run(graph, [&](Rewrite& rewrite, int id) -> std::optional<Tensor> {
        const Node& node = graph[id];
        if (node.op == Op::output) return Tensor{&rewrite.target(), 0};
        if (!is_attention(node)) return std::nullopt;
        const Tensor weights = weights_of(rewrite, id);
        const std::string module = graph.path(node.scope);
        std::string name = (module.empty() ? "" : module + ".") + "weights";
        if (const int number = ++taken[name]; number > 1) name += std::to_string(number);
        make(rewrite.target(), {.op = Op::output,
                                .dtype = weights.dtype(),
                                .shape = weights.shape(),
                                .inputs = inputs_of({weights.id}),
                                .scope = node.scope,
                                .location = node.location,
                                .name = intern(name)});
        return rewrite.copy(id);
    });
}

}  // namespace fovea
