#include "tools/fovea/compare/longest_sum.h"

#include <algorithm>

#include "tools/fovea/bench/count_flops.h"

namespace fovea::tool {

namespace {

double terms_of(const Graph& graph, const Node& node, const SampleDims& dims) {
    const auto shape_of = [&](std::size_t i) -> const Shape& {
        return graph[node.inputs[i]].shape;
    };
    switch (node.op) {
        case Op::einsum: {
            const EinsumAxes& axes = graph.einsums[std::size_t(node.attribute)];
            double terms = 1;
            for (int i = 0; i < axes.a.count; ++i)
                if (!axes.out.contains(axes.a.label[std::size_t(i)]))
                    terms *= double(value_of(shape_of(0)[i], dims));
            return terms;
        }
        case Op::reduce:
            return elements(shape_of(0), dims) / std::max(1.0, elements(node.shape, dims));
        case Op::scatter_add: return elements(shape_of(1), dims);
        default: return 1;
    }
}

}  // namespace

double longest_sum(const Graph& graph, const SampleDims& dims) {
    double longest = 1;
    for (const Node& node : graph.nodes) longest = std::max(longest, terms_of(graph, node, dims));
    return longest;
}

}  // namespace fovea::tool
