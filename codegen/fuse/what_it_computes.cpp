// Words for nodes, in the names of kernels and buffers.
#include <algorithm>

#include "codegen/fuse/fuse.h"

namespace fovea::fuse {

std::string underscored(std::string path) {
    std::replace(path.begin(), path.end(), '.', '_');
    return path;
}

std::string what_it_computes(const Graph& graph, int id) {
    const Node& node = graph[id];
    if (node.composite == Op::attention && node.op == Op::einsum) {
        const EinsumAxes& axes = graph.einsums[std::size_t(node.attribute)];
        bool over_width = axes.a.label[std::size_t(axes.a.count - 1)] ==
                          axes.b.label[std::size_t(axes.b.count - 1)];
        return over_width ? "scores" : "weighted_sum";
    }
    if (node.op == Op::fused_attention) return "attention";
    if (node.composite == Op::attention && node.op == Op::reduce) return "attention_delta";
    if (node.composite != Op::poison) return std::string(row_of(node.composite).name);
    if (node.op == Op::elementwise) return std::string(row_of(node.function).name);
    if (node.op == Op::einsum) return "product";
    return std::string(row_of(node.op).name);
}

}  // namespace fovea::fuse
