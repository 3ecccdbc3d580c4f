// Norms made of plain ops: known values and slopes.
#include "codegen/ops/composed/rms_norm.h"

#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("rms_norm divides by the root of the mean square") {
    Graph graph;
    output("y", rms_norm(input(graph, "x", {2, 2}), input(graph, "w", {2}), 0));
    const Array y = run(graph, {{"x", {{2, 2}, {3, 4, -1, 1}}}, {"w", {{2}, {1, 2}}}});
    const double root = std::sqrt(12.5);
    check_close(y, {{2, 2}, {3 / root, 8 / root, -1, 2}});
}

TEST_CASE("slopes of rms_norm over one axis and over two") {
    for (const Extents& weight : {Extents{4}, Extents{3, 4}}) {
        Graph graph;
        output("y", rms_norm(input(graph, "x", {2, 3, 4}), input(graph, "w", weight)));
        check_gradients(graph, {{"x", random_array({2, 3, 4}, 1)}, {"w", random_array(weight, 2)}});
    }
}

TEST_CASE("every group of channels has mean 0 and variance 1") {
    Graph graph;
    Tensor x = input(graph, "x", {2, 6, 5});
    output("y", group_norm(x, 3, input(graph, "w", {6}), input(graph, "b", {6}), 0));
    const Arrays arrays{
        {"x", random_array({2, 6, 5}, 3)}, {"w", filled({6}, 1)}, {"b", filled({6}, 0)}};
    const Array y = run(graph, arrays);
    for (std::size_t group = 0; group < 6; ++group) {
        double total = 0, square = 0;
        for (std::size_t i = 0; i < 10; ++i) {
            const double value = y.values[group * 10 + i];
            total += value, square += value * value;
        }
        CHECK(std::abs(total) < 1e-12);
        CHECK(square == doctest::Approx(10));
    }
}

TEST_CASE("slopes of group_norm of one, some and all groups") {
    for (std::int64_t groups : {1, 2, 4})
        for (const Extents& shape : {Extents{2, 4}, Extents{2, 4, 3}, Extents{1, 4, 2, 2}}) {
            if (groups == 4 && shape.size() == 2) continue;  // of one value, nothing but the bias
            Graph graph;
            Tensor x = input(graph, "x", shape);
            output("y", group_norm(x, groups, input(graph, "w", {4}), input(graph, "b", {4}), 0.1));
            check_gradients(graph, {{"x", random_array(shape, 4)},
                                    {"w", random_array({4}, 5)},
                                    {"b", random_array({4}, 6)}});
        }
}
