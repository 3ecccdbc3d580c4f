// Finds sums of products of tensors that broadcast against each other.
#include "codegen/group/raise_contraction.h"

#include <vector>

#include "codegen/graph/rewrite.h"
#include "codegen/ops/contraction.h"
#include "codegen/ops/elementwise.h"
#include "codegen/ops/movement.h"

namespace fovea {

namespace {

/// What a value repeats: the input of a broadcast.
int behind_broadcast(const Graph& graph, int id) {
    while (graph[id].op == Op::broadcast) id = graph[id].inputs[0];
    return id;
}

/// The sum's operand is a product, perhaps divided by something that the sum does not run over.
struct Product {
    std::vector<int> factors;
    std::vector<int> divisors;
    bool negated = false;
};

bool varies_along(const Shape& shape, int rank, int axes) {
    for (int i = 0; i < shape.rank(); ++i)
        if ((axes >> (rank - shape.rank() + i) & 1) && !shape[i].is_one()) return true;
    return false;
}

Product product_of(const Graph& graph, int id, int rank, int axes) {
    Product product;
    for (;;) {
        const Node& node = graph[id];
        if (node.op != Op::elementwise) break;
        bool divided = node.function == Elementwise::div &&
                       !varies_along(graph[node.inputs[1]].shape, rank, axes);
        if (node.function == Elementwise::neg) product.negated = !product.negated;
        else if (divided) product.divisors.push_back(node.inputs[1]);
        else break;
        id = node.inputs[0];
    }
    for (int factor : factors_of(graph, id))
        product.factors.push_back(behind_broadcast(graph, factor));
    return product;
}

}  // namespace

std::optional<std::string> why_not_contraction(const Graph& graph, int id) {
    const Node& node = graph[id];
    if (node.op != Op::reduce || node.reduction != Reduction::sum) return "it is not a sum";
    int rank = node.shape.rank();
    Product product = product_of(graph, node.inputs[0], rank, node.axis);
    if (product.factors.size() < 2) return "what is summed is not a product";
    std::vector<Shape> shapes;
    for (int factor : product.factors) shapes.push_back(graph[factor].shape);
    return why_not_contract(shapes, rank, node.axis);
}

Graph raise_contraction(const Graph& graph) {
    return Rewrite::run(graph, [&](Rewrite& rewrite, int id) -> std::optional<Tensor> {
        const Node& node = graph[id];
        if (node.op != Op::reduce || why_not_contraction(graph, id)) return {};
        int rank = node.shape.rank();
        Product product = product_of(graph, node.inputs[0], rank, node.axis);
        std::vector<Tensor> factors;
        for (int factor : product.factors) factors.push_back(rewrite.mapped(factor));
        Tensor result = *contract_product(factors, rank, node.axis);
        for (int divisor : product.divisors) result = result / rewrite.mapped(divisor);
        if (product.negated) result = -result;
        return result;
    });
}

}  // namespace fovea
