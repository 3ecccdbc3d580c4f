// Values that cost less to compute again than to store.
#include <algorithm>

#include "codegen/fuse/fuse.h"
#include "codegen/graph/op_def.h"

namespace fovea::fuse {

namespace {

bool depends_on_inlined_only(const Graph& graph, int id, const std::vector<bool>& inlined) {
    for (int input : graph[id].inputs)
        if (input > 0 && !inlined[std::size_t(input)]) return false;
    return true;
}

bool is_inlined(const Graph& graph, int id, const std::vector<bool>& inlined) {
    const Node& node = graph[id];
    const Cost cost = cost_of(node);
    if (cost == Cost::none || op_def(node.op).draws) return true;
    if (node.op != Op::elementwise) return false;
    const bool alias =
        node.function == Elementwise::identity && node.dtype == graph[node.inputs[0]].dtype;
    if (alias || node.dtype == DType::boolean || node.dtype == DType::i32) return true;
    const bool scalar = node.shape.rank() == 0;
    return (scalar || cost != Cost::many) && depends_on_inlined_only(graph, id, inlined);
}

/// Whether `node`, of the forward pass, is one value of its shape with others by row or column put
/// to it: to read that value costs the backward pass no more than to read this one.
bool is_made_again(const Graph& graph, const Node& node, const std::vector<bool>& inlined) {
    if (node.op != Op::elementwise || node.backward || node.dtype != DType::f32 ||
        node.shape.rank() == 0 || cost_of(node) != Cost::one)
        return false;
    int whole = 0;
    for (int input : node.inputs) {
        if (input <= 0) continue;
        const Node& from = graph[input];
        if (from.dtype != DType::f32) return false;
        const bool drawn = inlined[std::size_t(input)] && from.op != Op::elementwise;
        whole += from.shape == node.shape && !drawn;
    }
    return whole == 1;
}

void add_made_again(const Graph& graph, std::vector<bool>& inlined) {
    const std::vector<std::vector<int>> readers = readers_of(graph);
    std::vector<bool> made_again(graph.nodes.size(), false);
    for (int id = int(graph.nodes.size()) - 1; id > 0; --id) {
        const std::vector<int>& all = readers[std::size_t(id)];
        const bool for_backward = std::any_of(all.begin(), all.end(), [&](int reader) {
            return graph[reader].backward || made_again[std::size_t(reader)];
        });
        made_again[std::size_t(id)] = for_backward && is_made_again(graph, graph[id], inlined) &&
                                      !finishes_product(graph, readers, id);
    }
    for (std::size_t id = 1; id < inlined.size(); ++id) inlined[id] = inlined[id] || made_again[id];
}

/// Whether the reader needs its input in memory.
bool reads_memory(const Graph& graph, int reader) {
    OpClass op_class = row_of(graph[reader].op).op_class;
    return op_class != OpClass::elementwise && op_class != OpClass::reduction;
}

}  // namespace

std::vector<bool> inlined_nodes(const Graph& graph, bool enabled) {
    std::vector<bool> inlined(graph.nodes.size(), false);
    for (int id = 1; id < int(graph.nodes.size()); ++id)
        inlined[std::size_t(id)] = is_inlined(graph, id, inlined);
    if (enabled) add_made_again(graph, inlined);
    for (int id = 1; id < int(graph.nodes.size()); ++id) {
        const bool from_memory = looks_up(graph[id]) || reads_memory(graph, id);
        for (int input : graph[id].inputs)
            if (input > 0 && from_memory) inlined[std::size_t(input)] = false;
    }
    return inlined;
}

bool finishes_product(const Graph& graph, const std::vector<std::vector<int>>& readers, int id) {
    const Node& node = graph[id];
    if (node.op != Op::elementwise) return false;
    return std::any_of(node.inputs.begin(), node.inputs.end(), [&](int input) {
        if (input <= 0 || !(graph[input].shape == node.shape)) return false;
        if (readers[std::size_t(input)].size() > 1) return false;
        return graph[input].op == Op::einsum || finishes_product(graph, readers, input);
    });
}

std::vector<std::vector<int>> readers_of(const Graph& graph) {
    std::vector<std::vector<int>> readers(graph.nodes.size());
    for (int id = 1; id < int(graph.nodes.size()); ++id)
        for (int input : graph[id].inputs)
            if (input > 0 &&
                (readers[std::size_t(input)].empty() || readers[std::size_t(input)].back() != id))
                readers[std::size_t(input)].push_back(id);
    return readers;
}

}  // namespace fovea::fuse
