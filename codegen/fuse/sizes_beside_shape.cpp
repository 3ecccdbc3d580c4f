// Values that change with a size while their shape does not.
#include <set>

#include "codegen/fuse/fuse.h"
#include "codegen/graph/op_def.h"

namespace fovea::fuse {

namespace {

using Sizes = std::set<Symbol>;

void add_sizes(const Dim& dim, Sizes& sizes) {
    dim.each_symbol([&](const Symbol& symbol) { sizes.insert(symbol); });
}

/// Those that the parameters fix.
Sizes sizes_of_parameters(const Graph& graph) {
    Sizes sizes;
    for (const Node& node : graph.nodes)
        if (node.op == Op::parameter)
            for (const Dim& dim : node.shape) add_sizes(dim, sizes);
    return sizes;
}

/// Whether an element is made of the ones in its place, and of its place along whole axes, alone.
bool keeps_places(const Node& node) {
    return node.op == Op::elementwise || node.op == Op::broadcast || node.op == Op::iota ||
           node.op == Op::constant || node.op == Op::parameter || node.op == Op::input;
}

/// The sizes that the elements of a node depend on, beside what its operands do.
void add_own_sizes(const Graph& graph, const Node& node, Sizes& sizes) {
    add_sizes(node.dim, sizes);
    if (keeps_places(node)) return;
    const auto add = [&](const Shape& shape) {
        for (const Dim& dim : shape)
            if (row_of(node.op).op_class != OpClass::view || !dim.bare_symbol())
                add_sizes(dim, sizes);
    };
    add(node.shape);
    for (int input : node.inputs)
        if (input > 0) add(graph[input].shape);
}

}  // namespace

std::vector<bool> change_beside_shape(const Graph& graph) {
    const Sizes fixed = sizes_of_parameters(graph);
    std::vector<Sizes> read(graph.nodes.size());
    std::vector<bool> changes(graph.nodes.size(), false);
    for (std::size_t id = 1; id < graph.nodes.size(); ++id) {
        const Node& node = graph.nodes[id];
        add_own_sizes(graph, node, read[id]);
        for (int input : node.inputs)
            if (input > 0) read[id].merge(Sizes(read[std::size_t(input)]));
        Sizes told = fixed;
        for (const Dim& dim : node.shape)
            if (const Symbol symbol = dim.bare_symbol()) told.insert(symbol);
        for (const Symbol& symbol : read[id])
            if (!told.contains(symbol)) changes[id] = true;
    }
    return changes;
}

}  // namespace fovea::fuse
