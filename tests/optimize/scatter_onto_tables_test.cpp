// Rows that are added to a product are added where it lies.
#include "codegen/optimize/scatter_onto_tables.h"

#include <fovea.h>

#include "codegen/group/raise_contraction.h"
#include "codegen/optimize/dead_code.h"
#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

namespace {

/// y = f(a b, rows), where rows are those of [3, 4] at their ids of 5.
template <class F>
Graph sum_of(F&& f) {
    Graph graph;
    Tensor a = input(graph, "a", {5, 2}), b = input(graph, "b", {2, 4});
    Tensor ids = input(graph, "ids", {3}, i32);
    output("y", f(einsum("i k, k j -> i j", a, b), scatter_add(input(graph, "x", {3, 4}), ids, 5)));
    return raise_contraction(graph);
}

int count_ops(const Graph& graph, Op op, Elementwise function) {
    return int(std::ranges::count_if(graph.nodes, [&](const Node& node) {
        return node.op == op && (op != Op::elementwise || node.function == function);
    }));
}

/// Whether rows are added to the product, whose values stay.
bool adds_onto(const Graph& graph) {
    const Graph simple = dead_code(scatter_onto_tables(graph));
    verify_graph(simple);
    Arrays arrays{{"a", random_array({5, 2}, 1)},
                  {"b", random_array({2, 4}, 2)},
                  {"ids", Array{{3}, {4, 1, 4}}},
                  {"x", random_array({3, 4}, 3)}};
    check_close(run(simple, arrays), run(graph, arrays));
    return count_ops(simple, Op::elementwise, Elementwise::add) <
           count_ops(graph, Op::elementwise, Elementwise::add);
}

}  // namespace

TEST_CASE("rows are added to a product that nobody else reads") {
    CHECK(adds_onto(sum_of([](Tensor product, Tensor rows) { return product + rows; })));
    CHECK(adds_onto(sum_of([](Tensor product, Tensor rows) { return rows + product; })));
    CHECK_FALSE(
        adds_onto(sum_of([](Tensor product, Tensor rows) { return rows + rows * product; })));
    CHECK_FALSE(adds_onto(sum_of([](Tensor product, Tensor rows) {
        output("product", product * 2);
        return product + rows;
    })));
    CHECK_FALSE(adds_onto(sum_of([](Tensor product, Tensor rows) { return exp(product) + rows; })));
}
