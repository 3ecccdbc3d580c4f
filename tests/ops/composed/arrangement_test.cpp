// Functions made of movements: values as PyTorch's, gradients as slopes.
#include "codegen/ops/composed/arrangement.h"

#include "codegen/ops/reduction.h"

#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("stack along every axis") {
    const auto both = [](int axis) {
        return [axis](Tensor x) { return stack({x, x * 10.0}, axis); };
    };
    check_counting({2, 2}, {{2, 2, 2}, {0, 1, 2, 3, 0, 10, 20, 30}}, both(0));
    check_counting({2, 2}, {{2, 2, 2}, {0, 1, 0, 10, 2, 3, 20, 30}}, both(1));
    check_counting({2, 2}, {{2, 2, 2}, {0, 0, 1, 10, 2, 20, 3, 30}}, both(-1));
    check_counting({2, 2}, {{2, 2, 2}, {0, 1, 2, 3, 0, 10, 20, 30}}, [](Tensor x) {
        const std::vector<Tensor> parts = {x, x * 10.0};  // as many as a setting says
        return stack(parts);
    });
}

TEST_CASE("split and chunk") {
    check_counting({2, 5}, {{2, 3}, {2, 3, 4, 7, 8, 9}}, [](Tensor x) {
        auto [a, b] = split(x, {2, 3}, -1);
        return b + sum(a, 1, true) * 0.0;
    });
    check_counting({4, 2}, {{2, 2}, {4, 5, 6, 7}}, [](Tensor x) { return chunk<2>(x, 0)[1]; });
    check_counting({6}, {{2}, {0 + 2 + 4, 1 + 3 + 5}}, [](Tensor x) {
        auto [a, b, c] = chunk<3>(x, 0);
        return a + b + c;
    });
}

TEST_CASE("tile and repeat_interleave") {
    check_counting({2, 2}, {{4, 2}, {0, 1, 2, 3, 0, 1, 2, 3}},
                   [](Tensor x) { return tile(x, 0, 2); });
    check_counting({2, 2}, {{2, 4}, {0, 1, 0, 1, 2, 3, 2, 3}},
                   [](Tensor x) { return tile(x, -1, 2); });
    check_counting({2, 2}, {{4, 2}, {0, 1, 0, 1, 2, 3, 2, 3}},
                   [](Tensor x) { return repeat_interleave(x, 0, 2); });
    check_counting({2, 2}, {{2, 4}, {0, 0, 1, 1, 2, 2, 3, 3}},
                   [](Tensor x) { return repeat_interleave(x, 1, 2); });
}

TEST_CASE("flip along every axis") {
    check_counting({2, 3}, {{2, 3}, {3, 4, 5, 0, 1, 2}}, [](Tensor x) { return flip(x, 0); });
    check_counting({2, 3}, {{2, 3}, {2, 1, 0, 5, 4, 3}}, [](Tensor x) { return flip(x, -1); });
    check_counting({2, 1, 2}, {{2, 1, 2}, {1, 0, 3, 2}}, [](Tensor x) { return flip(x, 2); });
}

TEST_CASE("triangles around every diagonal") {
    check_counting({3, 3}, {{3, 3}, {0, 1, 2, 0, 4, 5, 0, 0, 8}}, [](Tensor x) { return triu(x); });
    check_counting({3, 3}, {{3, 3}, {0, 0, 0, 3, 4, 0, 6, 7, 8}}, [](Tensor x) { return tril(x); });
    check_counting({2, 3}, {{2, 3}, {0, 1, 2, 0, 0, 5}}, [](Tensor x) { return triu(x, 1); });
    check_counting({2, 3}, {{2, 3}, {0, 0, 0, 3, 0, 0}}, [](Tensor x) { return tril(x, -1); });
}

TEST_CASE("one_hot: zeros for what is no class") {
    Graph graph;
    output("y", one_hot(input(graph, "ids", {4}, i32), 3));
    check_close(run(graph, {{"ids", {{4}, {2, 0, -1, 3}}}}),
                {{4, 3}, {0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0}});
}
