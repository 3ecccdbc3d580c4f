// Running sums and products: PyTorch's values and gradients, with zeros.
#include "codegen/ops/composed/cumulative.h"

#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

namespace {

const Array kFactors{{3, 4}, {1, 3, 3, -2, 0, 0, 0, 0, 5, -1, 2, 2}};

}  // namespace

// The numbers are those of torch 2.13.
TEST_CASE("cumsum, cumprod and prod") {
    check_known(kFactors, {{3, 4}, {1, 4, 7, 5, 0, 0, 0, 0, 5, 4, 6, 8}},
                {{3, 4}, {10, 9, 7, 4, 26, 21, 15, 8, 42, 33, 23, 12}},
                [](Tensor x) { return cumsum(x, 1); });
    check_known(kFactors, {{3, 4}, {1, 3, 9, -18, 0, 0, 0, 0, 5, -5, -10, -20}},
                {{3, 4}, {-38, -13, -15, 36, 5, 0, 0, 0, -71, 400, -175, -120}},
                [](Tensor x) { return cumprod(x, -1); });
    check_known(kFactors, {{3}, {-18, 0, -20}},
                {{3, 4}, {-18, -6, -6, 9, 0, 0, 0, 0, -12, 60, -30, -30}},
                [](Tensor x) { return prod(x, 1); });
}

TEST_CASE("a product with one zero has a gradient there") {
    check_known({{3}, {2, 0, 5}}, filled({1}, 0), {{3}, {0, 10, 0}},
                [](Tensor x) { return prod(x, 0, true); });
}

TEST_CASE("of nothing, and along every axis") {
    Graph graph;
    output("y", prod(input(graph, "x", {2, 0}), 1));
    check_close(run(seal_scans(graph), {{"x", filled({2, 0}, 0)}}), filled({2}, 1));
    for (int axis = -3; axis < 3; ++axis)
        for (auto f : {+[](Tensor x, int i) { return cumsum(x, i); },
                       +[](Tensor x, int i) { return cumprod(x, i); },
                       +[](Tensor x, int i) { return prod(x, i); }}) {
            Graph other;
            output("y", f(input(other, "x", {2, 3, 4}), axis));
            check_gradients(seal_scans(other), {{"x", random_array({2, 3, 4}, 8)}});
        }
}

TEST_CASE("bf16 is added up in f32") {
    Graph graph;
    Tensor totals = cumsum(cast(input(graph, "x", {5}), bf16), 0);
    CHECK(totals.dtype() == bf16);
    output("y", totals);
    const Graph sealed = seal_scans(graph);
    CHECK(count(sealed, Op::scan) > 0);
    for (const Node& node : sealed.nodes)
        if (node.op == Op::scan) CHECK(node.dtype == f32);
}
