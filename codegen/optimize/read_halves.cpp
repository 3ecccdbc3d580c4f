#include "codegen/optimize/read_halves.h"

#include "codegen/graph/attention_input.h"

namespace fovea {

namespace {

/// A whole value of halves as float32.
bool is_widened(const Graph& graph, int id) {
    const Node& node = graph[id];
    if (node.op != Op::elementwise || node.function != Elementwise::identity) return false;
    const Node& halves = graph[node.inputs[0]];
    return node.dtype == f32 && is_half(halves.dtype) && halves.shape == node.shape;
}

}  // namespace

Graph read_halves(const Graph& graph) {
    Graph result = graph;
    for (Node& node : result.nodes) {
        if (node.op != Op::fused_attention) continue;
        for (const AttentionInput which : {AttentionInput::key, AttentionInput::value}) {
            int& input = node.inputs[std::size_t(int(which))];
            if (input > 0 && is_widened(graph, input)) input = graph[input].inputs[0];
        }
    }
    return result;
}

}  // namespace fovea
