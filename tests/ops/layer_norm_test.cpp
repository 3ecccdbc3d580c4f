// Layer normalisation over one and several axes.
#include "codegen/ops/layer_norm.h"

#include "codegen/ops/reduction.h"
#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("values by the formula, gradients of x, weight and bias") {
    const Extents shapes[] = {{4, 3}, {2, 3, 5}, {7}, {2, 2, 2, 3}, {3, 1}};
    for (const Extents& shape : shapes)
        for (std::size_t axes = 1; axes <= shape.size(); ++axes) {
            Extents own(shape.end() - std::ptrdiff_t(axes), shape.end());
            Graph graph;
            Tensor x = input(graph, "x", shape), weight = input(graph, "weight", own),
                   bias = input(graph, "bias", own);
            output("y", layer_norm(x, weight, bias, 1e-2));
            Arrays arrays{{"x", random_array(shape, 14, -2, 3)},
                          {"weight", random_array(own, 15)},
                          {"bias", random_array(own, 16)}};
            INFO("rank ", shape.size(), ", axes ", axes);
            Array expected = arrays["x"];
            std::size_t width = 1;
            for (std::int64_t extent : own) width *= std::size_t(extent);
            for (std::size_t row = 0; row < expected.values.size(); row += width) {
                double mean = 0, variance = 0;
                for (std::size_t i = 0; i < width; ++i)
                    mean += expected.values[row + i] / double(width);
                for (std::size_t i = 0; i < width; ++i)
                    variance += std::pow(expected.values[row + i] - mean, 2) / double(width);
                for (std::size_t i = 0; i < width; ++i)
                    expected.values[row + i] = (expected.values[row + i] - mean) /
                                                   std::sqrt(variance + 1e-2) *
                                                   arrays["weight"].values[i] +
                                               arrays["bias"].values[i];
            }
            check_close(run(graph, arrays), expected);
            check_gradients(graph, arrays);
        }
}

TEST_CASE("forward and backward share the statistics of a row") {
    Graph graph;
    Tensor x = input(graph, "x", {4, 8}), weight = input(graph, "w", {8}),
           bias = input(graph, "b", {8});
    output("y", layer_norm(x, weight, bias));
    Graph with = optimized(add_gradients(graph, {.from_loss = false, .of_inputs = true}));
    int sums_over_rows = 0, roots = 0;
    for (const Node& node : with.nodes) {
        sums_over_rows += node.op == Op::reduce && node.axis == 2;
        roots += node.op == Op::elementwise && node.function == Elementwise::rsqrt;
    }
    CHECK(roots == 1);
    CHECK(sums_over_rows == 4);  // mean, variance, and two of the gradient
}
