// Sums and maxima over any axes.
#include "codegen/ops/reduction.h"

#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("sums and maxima over every set of axes") {
    for (const Extents& shape : {Extents{2, 3, 5}, Extents{1, 7}, Extents{4}, Extents{3, 1, 2, 2}})
        for (int axes = 1; axes < 1 << shape.size(); ++axes)
            for (Reduction reduction : {Reduction::sum, Reduction::max}) {
                Graph graph;
                output("y", reduce(reduction, input(graph, "x", shape), axes));
                check_gradients(graph, {{"x", random_array(shape, 5)}});
            }
}

TEST_CASE("known sums, maxima and means") {
    Graph graph;
    Tensor x = input(graph, "x", {2, 3});
    output("y", sum(x, 1));
    output("m", amax(x, 0, true));
    output("a", mean(x, -1));
    Arrays arrays{{"x", {{2, 3}, {1, 2, 3, -4, 5, 0}}}};
    check_close(run(graph, arrays), {{2}, {6, 1}});
    check_close(run(graph, arrays, "m"), {{1, 3}, {1, 5, 3}});
    check_close(run(graph, arrays, "a"), {{2}, {2, 1.0 / 3}});
}

TEST_CASE("a sum over nothing is 0") {
    Graph graph;
    output("y", sum(input(graph, "x", {2, 0}), 1));
    check_close(run(graph, {{"x", filled({2, 0}, 0)}}), filled({2}, 0));
    check_gradients(graph, {{"x", filled({2, 0}, 0)}});
}

TEST_CASE("the gradient of a maximum is shared by ties") {
    Graph graph;
    output("y", amax(input(graph, "x", {4}), 0));
    Graph with = add_gradients(graph, {.from_loss = false, .of_inputs = true});
    Arrays arrays{{"x", {{4}, {1, 3, 3, 2}}}, {"y.grad", filled({}, 1)}};
    check_close(run(with, arrays, "x.grad"), {{4}, {0, 0.5, 0.5, 0}});
}

TEST_CASE("sum_to undoes broadcasting") {
    const Extents shapes[] = {{}, {1}, {5}, {1, 5}, {3, 1}, {1, 1, 5}, {2, 3, 5}, {2, 1, 1}};
    for (const Extents& shape : shapes) {
        Graph graph;
        Tensor x = input(graph, "x", {2, 3, 5});
        Shape to;
        for (std::int64_t extent : shape) to.push(extent);
        output("y", sum_to(x, to));
        verify_graph(graph);
        Array y = run(graph, {{"x", filled({2, 3, 5}, 1)}});
        CHECK(y.shape == shape);
        for (double value : y.values) CHECK(value == 30.0 / double(y.size()));
    }
}
