// Elements chosen by position and by size: values as PyTorch's, gradients as slopes.
#include "codegen/ops/composed/selection.h"

#include <cmath>

#include "codegen/ops/contraction.h"
#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

namespace {

/// y of x = 0, 1, 2, … and ids, and its gradients.
template <class F>
void check_chosen(const Extents& shape, const Array& ids, const Array& expected, F&& f) {
    Graph graph;
    output("y", f(input(graph, "x", shape), input(graph, "ids", ids.shape, i32)));
    check_close(run(graph, {{"x", counting(shape)}, {"ids", ids}}), expected);
    check_gradients(graph, {{"x", random_array(shape, 4)}, {"ids", ids}});
}

Array ranked(const Array& x, bool values, Ranked (*f)(Tensor)) {
    Graph graph;
    const Ranked both = f(input(graph, "x", x.shape));
    output("y", values ? both.values : both.ids);
    return run(graph, {{"x", x}});
}

}  // namespace

TEST_CASE("index_select along every axis, ids of any rank") {
    check_chosen({2, 3}, {{2}, {2, 0}}, {{2, 2}, {2, 0, 5, 3}},
                 [](Tensor x, Tensor ids) { return index_select(x, 1, ids); });
    check_chosen({3, 2}, {{1, 2}, {2, 2}}, {{1, 2, 2}, {4, 5, 4, 5}},
                 [](Tensor x, Tensor ids) { return index_select(x, 0, ids); });
    check_chosen({2, 2, 2}, {{}, {1}}, {{2, 2}, {2, 3, 6, 7}},
                 [](Tensor x, Tensor ids) { return index_select(x, -2, ids); });
}

TEST_CASE("take_along_dim has an id for each element") {
    check_chosen({2, 3}, {{2, 2}, {2, 0, 1, 1}}, {{2, 2}, {2, 0, 4, 4}},
                 [](Tensor x, Tensor ids) { return take_along_dim(x, ids, 1); });
    check_chosen({2, 3}, {{1, 3}, {1, 0, 1}}, {{1, 3}, {3, 1, 5}},
                 [](Tensor x, Tensor ids) { return take_along_dim(x, ids, 0); });
    check_chosen({2, 2, 2}, {{2, 1, 2}, {0, 1, 1, 0}}, {{2, 1, 2}, {0, 3, 6, 5}},
                 [](Tensor x, Tensor ids) { return take_along_dim(x, ids, 1); });
}

TEST_CASE("an id outside of its axis is an error, though the tensor has such a place") {
    Graph graph;
    Tensor x = input(graph, "x", {2, 3}), ids = input(graph, "ids", {2, 1}, i32);
    output("y", take_along_dim(x, ids, 1));
    const Arrays arrays{{"x", counting({2, 3})}, {"ids", {{2, 1}, {3, 0}}}};
    CHECK_THROWS_WITH_AS(run(graph, arrays), doctest::Contains("ids are from 0 to 2"), UserError);
}

TEST_CASE("scatter_add along an axis adds what meets") {
    Graph graph;
    Tensor x = input(graph, "x", {2, 3}), values = input(graph, "v", {2, 4});
    output("y", scatter_add(x, 1, input(graph, "ids", {2, 4}, i32), values));
    const Arrays arrays{{"x", counting({2, 3})},
                        {"v", {{2, 4}, {10, 20, 30, 40, 50, 60, 70, 80}}},
                        {"ids", {{2, 4}, {0, 2, 0, 1, 1, 1, 1, 1}}}};
    check_close(run(graph, arrays), {{2, 3}, {40, 41, 22, 3, 264, 5}});
    check_gradients(graph, arrays);
}

TEST_CASE("topk: the largest first, of equal ones the first, NaN before all") {
    const double infinity = std::numeric_limits<double>::infinity(), none = std::nan("");
    const auto two = [](Tensor x) { return topk<2>(x); };
    check_close(ranked({{4}, {1, 7, 3, 7}}, true, two), {{2}, {7, 7}});
    check_close(ranked({{4}, {1, 7, 3, 7}}, false, two), {{2}, {1, 3}});
    check_close(ranked({{3}, {-infinity, -infinity, -infinity}}, false, two), {{2}, {0, 1}});
    check_close(ranked({{3}, {-infinity, infinity, 0}}, false, two), {{2}, {1, 2}});
    check_close(ranked({{4}, {1, none, 5, none}}, false, two), {{2}, {1, 3}});
    check_close(ranked({{3}, {1, none, 5}}, false, two), {{2}, {1, 2}});
    check_counting({2, 3}, {{2, 2}, {2, 1, 5, 4}}, [](Tensor x) { return topk<2>(x, 1).values; });
    check_counting({2, 3}, {{1, 3}, {3, 4, 5}}, [](Tensor x) { return topk<1>(x, 0).values; });
    const int count = 3;  // as a setting is, not known while compiling
    check_counting({2, 3}, {{2, 3}, {2, 1, 0, 5, 4, 3}},
                   [&](Tensor x) { return topk(x, count).values; });
}

TEST_CASE("sort: equal ones as they stand, NaN behind all") {
    const double infinity = std::numeric_limits<double>::infinity(), none = std::nan("");
    const auto up = [](Tensor x) { return sort(x); };
    const auto down = [](Tensor x) { return sort(x, 0, true); };
    check_close(ranked({{4}, {3, 1, 3, 2}}, true, up), {{4}, {1, 2, 3, 3}});
    check_close(ranked({{4}, {3, 1, 3, 2}}, false, up), {{4}, {1, 3, 0, 2}});
    check_close(ranked({{4}, {3, 1, 3, 2}}, false, down), {{4}, {0, 2, 3, 1}});
    check_close(ranked({{4}, {none, infinity, -infinity, none}}, false, up), {{4}, {2, 1, 0, 3}});
    check_close(ranked({{4}, {none, infinity, -infinity, none}}, false, down), {{4}, {0, 3, 1, 2}});
    check_counting({2, 2}, {{2, 2}, {1, 0, 3, 2}},
                   [](Tensor x) { return sort(x, 1, true).values; });
    check_counting({2, 2}, {{2, 2}, {0, 1, 2, 3}}, [](Tensor x) { return sort(x, 0).values; });
}
