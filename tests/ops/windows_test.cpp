// Windows of an axis, and the sum that puts them back.
#include "codegen/ops/windows.h"

#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("windows of an axis, which overlap, leave gaps, or leave the end out") {
    check_counting({5}, {{3, 3}, {0, 1, 2, 1, 2, 3, 2, 3, 4}},
                   [](Tensor x) { return windows(x, 0, 3); });
    check_counting({5}, {{2, 3}, {0, 1, 2, 2, 3, 4}},
                   [](Tensor x) { return windows(x, 0, 3, {.stride = 2}); });
    check_counting({6}, {{2, 2}, {0, 1, 3, 4}},
                   [](Tensor x) { return windows(x, 0, 2, {.stride = 3}); });
    check_counting({6}, {{2, 3}, {0, 2, 4, 1, 3, 5}},
                   [](Tensor x) { return windows(x, 0, 3, {.dilation = 2}); });
    check_counting({7}, {{2, 2}, {0, 2, 3, 5}},
                   [](Tensor x) { return windows(x, -1, 2, {.stride = 3, .dilation = 2}); });
    check_counting({2, 3}, {{2, 2, 2}, {0, 1, 1, 2, 3, 4, 4, 5}},
                   [](Tensor x) { return windows(x, 1, 2); });
    check_counting({3, 2}, {{2, 2, 2}, {0, 1, 2, 3, 2, 3, 4, 5}},
                   [](Tensor x) { return windows(x, 0, 2); });
}

TEST_CASE("windows of one element, of all, and beside an axis of no elements") {
    check_counting({3}, counting({3, 1}), [](Tensor x) { return windows(x, 0, 1); });
    check_counting({4}, {{2, 1}, {0, 2}}, [](Tensor x) { return windows(x, 0, 1, {.stride = 2}); });
    check_counting({3}, counting({1, 3}), [](Tensor x) { return windows(x, 0, 3); });
    check_counting({1}, counting({1, 1}), [](Tensor x) { return windows(x, 0, 1, {.stride = 4}); });
    check_counting({0, 3}, {{0, 2, 2}, {}}, [](Tensor x) { return windows(x, 1, 2); });
}

TEST_CASE("windows of windows, with gradients, whatever the stride and the dilation") {
    for (int size : {1, 2, 3, 4})
        for (int stride : {1, 2, 3, 5})
            for (int dilation : {1, 2, 3}) {
                INFO("size ", size, ", stride ", stride, ", dilation ", dilation);
                Graph graph;
                Tensor x = input(graph, "x", {2, 11, 3});
                output("y", windows(x, 1, size, {stride, dilation}) * 0.5);
                check_gradients(graph, {{"x", random_array({2, 11, 3}, 7)}});
            }
    Graph graph;
    Tensor x = input(graph, "x", {1, 2, 6, 7});
    Tensor rows = windows(x, 2, 3, {.stride = 2});
    output("y", windows(rows, 4, 2, {.dilation = 3}));  // six axes
    check_gradients(graph, {{"x", random_array({1, 2, 6, 7}, 8)}});
}

TEST_CASE("unfold has the windows behind all other axes") {
    check_counting({4, 2}, {{3, 2, 2}, {0, 2, 1, 3, 2, 4, 3, 5, 4, 6, 5, 7}},
                   [](Tensor x) { return unfold(x, 0, 2, 1); });
    check_counting({2, 4}, counting({2, 2, 2}), [](Tensor x) { return unfold(x, 1, 2, 2); });
}

TEST_CASE("sums of windows are the reverse, with gradients") {
    Graph graph;
    Tensor x = input(graph, "x", {2, 4, 3});
    output("y", sum_windows(x, 1, 6, {}));
    verify_graph(graph);
    check_close(run(graph, {{"x", filled({2, 4, 3}, 1)}}),
                {{2, 6}, {1, 2, 3, 3, 2, 1, 1, 2, 3, 3, 2, 1}});
    check_gradients(graph, {{"x", random_array({2, 4, 3}, 9)}});
}
