// Calls the ops' builders on stand-ins of a node's inputs.
#include "codegen/graph/derive_node.h"

#include <array>

#include "codegen/graph/op_def.h"

namespace fovea {

namespace {

/// The node as it is, on its stand-ins.
Node plain(const Node& node, const std::array<Tensor, kMaxInputs>& inputs) {
    Node copy = node;
    for (std::size_t i = 0; i < kMaxInputs; ++i)
        copy.inputs[i] = inputs[i].exists() ? inputs[i].id : -1;
    copy.attribute = -1;
    return copy;
}

}  // namespace

std::pair<int, int> input_count(const Node& node) {
    const int arity = row_of(node.function).arity;
    return node.op == Op::elementwise ? std::pair(arity, arity) : op_def(node.op).inputs;
}

std::optional<std::string> why_not_derivable(const Graph& graph, int id) {
    const OpDef& def = op_def(graph[id].op);
    return def.why_not_derivable ? def.why_not_derivable(graph, id) : std::nullopt;
}

Node derive_node(const Graph& source, int id) {
    const Node& node = source[id];
    Graph graph;
    std::array<Tensor, kMaxInputs> inputs{};
    for (std::size_t i = 0; i < kMaxInputs; ++i) {
        if (node.inputs[i] <= 0) continue;
        const Node& input = source[node.inputs[i]];
        inputs[i] = make(graph, {.op = Op::input, .dtype = input.dtype, .shape = input.shape});
    }
    const auto derive = op_def(node.op).derive;
    const Tensor derived =
        derive ? derive({source, node, graph, inputs}) : make(graph, plain(node, inputs));
    return derived.node();
}

}  // namespace fovea
