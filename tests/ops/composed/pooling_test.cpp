// Pools: values as PyTorch gives them, gradients that are slopes, ties and NaN.
#include "codegen/ops/composed/pooling.h"

#include <limits>

#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("the largest value and the mean of windows") {
    check_counting({6}, {{3}, {1, 3, 5}}, [](Tensor x) { return max_pool1d(x, 2); });
    check_counting({2, 5}, {{2, 3}, {2, 3, 4, 7, 8, 9}},
                   [](Tensor x) { return max_pool1d(x, 3, {.stride = 1}); });
    check_counting({6}, {{4}, {0, 2, 4, 5}},
                   [](Tensor x) { return max_pool1d(x, 2, {.padding = 1}); });
    check_counting({5}, {{2}, {0.5, 2.5}}, [](Tensor x) { return avg_pool1d(x, 2); });
    check_counting({4}, {{2}, {1.0 / 3, 5.0 / 3}},
                   [](Tensor x) { return avg_pool1d(x, 3, {.padding = 1}); });
    check_counting({1, 1, 4, 4}, {{1, 1, 2, 2}, {5, 7, 13, 15}},
                   [](Tensor x) { return max_pool2d(x, 2); });
    check_counting({4, 4}, {{2, 2}, {5, 7, 13, 15}},
                   [](Tensor x) { return max_pool2d(x, 3, {.stride = 2, .padding = 1}); });
    check_counting({3, 4}, {{2, 2}, {3, 4, 7, 8}},
                   [](Tensor x) { return avg_pool2d(x, {2, 3}, {.stride = 1}); });
    check_counting({2, 2}, {{1, 2}, {1, 2}}, [](Tensor x) { return avg_pool2d(x, {2, 1}); });
    check_counting({0, 4}, {{0, 2}, {}}, [](Tensor x) { return max_pool1d(x, 2); });
}

TEST_CASE("of equal values the first takes the gradient") {
    check_known({{4}, {2, 2, 1, 2}}, {{3}, {2, 2, 2}}, {{4}, {1, 2, 0, 3}},
                [](Tensor x) { return max_pool1d(x, 2, {.stride = 1}); });
    check_known({{2, 3}, {0, 0, 0, 0, 0, 0}}, {{1, 2}, {0, 0}}, {{2, 3}, {1, 2, 0, 0, 0, 0}},
                [](Tensor x) { return max_pool2d(x, 2, {.stride = 1}); });
}

TEST_CASE("NaN is larger than all, and padding is not larger than -infinity") {
    const double infinity = std::numeric_limits<double>::infinity();
    Graph graph;
    output("y", max_pool1d(input(graph, "x", {5}), 3, {.stride = 2, .padding = 1}));
    const Array y = run(graph, {{"x", {{5}, {-infinity, -infinity, 1, std::nan(""), infinity}}}});
    CHECK(y.values[0] == -infinity);
    CHECK(std::isnan(y.values[1]));
    CHECK(std::isnan(y.values[2]));
}
