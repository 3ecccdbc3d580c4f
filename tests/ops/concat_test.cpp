// concat and pad.
#include "codegen/ops/concat.h"

#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

namespace {

Array numbered(const Extents& shape) {
    Array array{shape, {}};
    for (std::int64_t i = 0; i < array.size(); ++i) array.values.push_back(double(i));
    return array;
}

template <class F>
void check_value(const Extents& shape, const Array& expected, F&& f) {
    Graph graph;
    Tensor x = input(graph, "x", shape);
    output("y", f(x));
    check_close(run(graph, {{"x", numbered(shape)}}), expected);
    check_gradients(graph, {{"x", random_array(shape, 4)}});
}

}  // namespace

TEST_CASE("concat") {
    check_value({2, 2}, {{2, 4}, {0, 1, 0, 2, 2, 3, 4, 6}},
                [](Tensor x) { return concat(x, x * 2.0, 1); });
    check_value({1, 2}, {{2, 2}, {0, 1, 1, 2}}, [](Tensor x) { return concat(x, x + 1.0, 0); });
    check_value({2, 1}, {{2, 4}, {0, 0, 1, 0, 1, 1, 2, 2}},
                [](Tensor x) { return concat({x, x, x + 1.0, x * 2.0}, -1); });
    check_value({2, 1}, numbered({2, 1}), [](Tensor x) { return concat({x}, 0); });
}

TEST_CASE("concat of many parts: one node, as many as a node reads") {
    Graph graph;
    const Tensor x = input(graph, "x", {1, 2});
    const std::vector<Tensor> most(kMaxInputs, x), more(kMaxInputs + 1, x);
    CHECK(concat(most, 0).dim(0) == Dim(std::int64_t(kMaxInputs)));
    CHECK(count(graph, Op::concat) == 1);
    CHECK_THROWS_WITH_AS(concat(more, 0, {"f.cpp", 3}),
                         "f.cpp:3: concat of 65 parts: at most 64 are possible", UserError);
}

TEST_CASE("pad, and what it refuses") {
    check_value({2, 2}, {{2, 5}, {0, 0, 1, 0, 0, 0, 2, 3, 0, 0}},
                [](Tensor x) { return pad(x, 1, 1, 2); });
    check_value({1, 2}, {{3, 2}, {0, 0, 0, 0, 0, 1}}, [](Tensor x) { return pad(x, -2, 2, 0); });
    check_value({2, 2}, numbered({2, 2}), [](Tensor x) { return pad(x, 0, 0, 0); });
    Graph graph;
    const Tensor x = input(graph, "x", {2, 2});
    CHECK_THROWS_WITH_AS(pad(x, 2, 1, 1, {"f.cpp", 3}),
                         "f.cpp:3: pad: there is no axis 2 in [2, 2]", UserError);
    CHECK_THROWS_WITH_AS(pad(x, 1, 1, -1, {"f.cpp", 3}),
                         "f.cpp:3: cannot pad axis 1 of [2, 2] with 1 and -1 zeros", UserError);
}
