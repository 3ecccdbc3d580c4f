#include "codegen/optimize/sum_into_einsum.h"

#include "codegen/graph/rewrite.h"
#include "codegen/ops/contraction.h"
#include "codegen/ops/movement.h"

namespace fovea {

namespace {

/// Whether every axis that `sum` reduces is one of both operands of the einsum below it.
bool is_shared(const Graph& graph, const Node& sum) {
    const Node& product = graph[sum.inputs[0]];
    const EinsumAxes& axes = graph.einsums[std::size_t(product.attribute)];
    for (int i = 0; i < axes.out.count; ++i) {
        const int label = axes.out.label[std::size_t(i)];
        if ((sum.axis >> i & 1) && !(axes.a.contains(label) && axes.b.contains(label)))
            return false;
    }
    return true;
}

}  // namespace

Graph sum_into_einsum(const Graph& graph) {
    std::vector<int> readers(graph.nodes.size(), 0);
    for (const Node& node : graph.nodes)
        for (int input : node.inputs)
            if (input > 0) ++readers[std::size_t(input)];
    return Rewrite::run(graph, [&](Rewrite& rewrite, int id) -> std::optional<Tensor> {
        const Node& node = graph[id];
        if (node.op != Op::reduce || node.reduction != Reduction::sum) return {};
        const Node& product = graph[node.inputs[0]];
        if (product.op != Op::einsum || readers[std::size_t(node.inputs[0])] > 1) return {};
        if (!is_shared(graph, node)) return {};
        EinsumAxes axes = graph.einsums[std::size_t(product.attribute)];
        const EinsumAxes::List all = axes.out;
        axes.out = {};
        axes.pattern = {};
        for (int i = 0; i < all.count; ++i)
            if (!(node.axis >> i & 1)) axes.out.push(all.label[std::size_t(i)]);
        Tensor y = einsum(rewrite.mapped(product.inputs[0]), rewrite.mapped(product.inputs[1]),
                          axes, product.location);
        rewrite.target()[y.id].scope = product.scope;
        for (int i = 0; i < all.count; ++i)
            if (node.axis >> i & 1) y = unsqueeze(y, i);
        return y;
    });
}

}  // namespace fovea
