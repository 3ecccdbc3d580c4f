// Values that cost less to compute again than to store.
#include "codegen/fuse/fuse.h"

namespace fovea::fuse {

namespace {

bool depends_on_inlined_only(const Graph& graph, int id, const std::vector<bool>& inlined) {
    for (int input : graph[id].inputs)
        if (input > 0 && !inlined[std::size_t(input)]) return false;
    return true;
}

bool is_transcendental(Elementwise function) {
    switch (function) {
        case Elementwise::exp:
        case Elementwise::log:
        case Elementwise::exp2:
        case Elementwise::log2:
        case Elementwise::tanh:
        case Elementwise::sigmoid:
        case Elementwise::erf:
        case Elementwise::sin:
        case Elementwise::cos:
        case Elementwise::exp_exponent:
        case Elementwise::exp_significand:
        case Elementwise::tanh_of_exp:
        case Elementwise::sigmoid_of_exp:
        case Elementwise::pow: return true;
        default: return false;
    }
}

bool is_inlined(const Graph& graph, int id, const std::vector<bool>& inlined) {
    const Node& node = graph[id];
    switch (node.op) {
        case Op::constant:
        case Op::extent:
        case Op::iota:
        case Op::random: return true;
        case Op::broadcast:
        case Op::stop_gradient: return true;
        case Op::elementwise: {
            bool scalar = node.shape.rank() == 0;
            bool alias =
                node.function == Elementwise::identity && node.dtype == graph[node.inputs[0]].dtype;
            if (alias || node.dtype == DType::boolean || node.dtype == DType::i32) return true;
            bool cheap = scalar || !is_transcendental(node.function);
            return cheap && depends_on_inlined_only(graph, id, inlined);
        }
        default: return false;
    }
}

/// Whether the reader needs its input in memory.
bool reads_memory(const Graph& graph, int reader) {
    OpClass op_class = row_of(graph[reader].op).op_class;
    return op_class != OpClass::elementwise && op_class != OpClass::reduction;
}

}  // namespace

std::vector<bool> inlined_nodes(const Graph& graph) {
    std::vector<bool> inlined(graph.nodes.size(), false);
    for (int id = 1; id < int(graph.nodes.size()); ++id)
        inlined[std::size_t(id)] = is_inlined(graph, id, inlined);
    for (int id = 1; id < int(graph.nodes.size()); ++id) {
        bool gather = graph[id].op == Op::gather;
        for (int input : graph[id].inputs)
            if (input > 0 && (gather || reads_memory(graph, id)))
                inlined[std::size_t(input)] = false;
    }
    return inlined;
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
