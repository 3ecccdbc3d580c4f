#include "codegen/group/split_keys.h"

#include <algorithm>

#include "codegen/graph/rewrite.h"
#include "codegen/ops/attention/fused_attention.h"
#include "codegen/ops/attention/key_parts.h"

namespace fovea {

namespace {

constexpr std::int64_t kMostQueries = 16;  // rows of one tile
constexpr std::int64_t kFewestKeys = 4 * kPartUnit;

/// Of a batch whose size is not known: one sequence.
std::int64_t least_size(const Dim& dim) { return dim.is_static() ? dim.value() : 1; }

/// Whether another result of the same attention is asked for.
bool has_other_results(const Graph& graph, int id) {
    const auto function_of = [&](const Node& node) {
        return graph.attentions[std::size_t(node.attribute)].function;
    };
    const Node& node = graph[id];
    return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& other) {
        return &other != &node && other.op == Op::fused_attention &&
               function_of(other) == function_of(node);
    });
}

int parts_for(const Graph& graph, int id, int tasks) {
    const Shape& q = graph[graph[id].inputs[0]].shape;
    const std::int64_t heads = std::max<std::int64_t>(least_size(q[0]) * least_size(q[1]), 1);
    return int((tasks + heads - 1) / heads);
}

}  // namespace

std::optional<std::string> why_not_split_keys(const Graph& graph, int id, int tasks) {
    const Node& node = graph[id];
    const AttentionAttributes& attributes = graph.attentions[std::size_t(node.attribute)];
    const Shape &q = graph[node.inputs[0]].shape, &v = graph[node.inputs[2]].shape;
    if (tasks <= 1) return "the target takes keys whole";
    if (node.result != AttentionResult::output || has_other_results(graph, id))
        return "its gradient is asked for";
    if (q.rank() != 4) return "it has no heads";
    if (!q[2].is_static() || q[2].value() > kMostQueries) return "its queries are many";
    if (!(q[1].without_label() == v[1].without_label())) return "heads share keys";
    if (v[2].is_static() && v[2].value() < kFewestKeys) return "its keys are few";
    if (attributes.window.is_limited() || attributes.has_segments)
        return "its mask reads the position of the query";
    if (attributes.dropout > 0) return "its weights are dropped";
    if (2 * least_size(q[0]) * least_size(q[1]) > tasks) return "its heads are tasks enough";
    return {};
}

Graph split_keys(const Graph& graph, int tasks) {
    return Rewrite::run(graph, [&](Rewrite& rewrite, int id) -> std::optional<Tensor> {
        if (graph[id].op != Op::fused_attention || why_not_split_keys(graph, id, tasks)) return {};
        const Node whole = rewrite.copy(id).node();
        return attention_by_parts(whole, rewrite.target(), parts_for(graph, id, tasks));
    });
}

}  // namespace fovea
