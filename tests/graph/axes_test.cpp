// What ops say of their axes, beside what they do; steps whose rows do without each other.
#include "codegen/graph/axes.h"

#include <doctest/doctest.h>
#include <fovea.h>

#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

namespace {

/// The step is traced by itself, of x [batch, 4], w [4, 4] and lens [batch].
template <class F>
std::string mixed(F&& step) {
    Graph graph;
    Scope s{&graph};
    Tensor x = s.input("x", {"batch", 4}), w = s.input("w", {4, 4});
    s.output("y", step(x, w));
    return why_rows_are_mixed(graph, Dim("batch").bare_symbol()).value_or("");
}

/// Position along `axis` of element `at` of a dense array.
std::int64_t position(const Extents& shape, std::size_t at, int axis) {
    std::int64_t inner = 1;
    for (std::size_t i = std::size_t(axis) + 1; i < shape.size(); ++i) inner *= shape[i];
    return std::int64_t(at) / inner % shape[std::size_t(axis)];
}

/// `0 r`: the first axis of an operand maps to axis 0 of the result, the second is reduced.
std::string uses_of(const Graph& graph, int id, int operand) {
    std::string text;
    const Shape& shape = graph[graph[id].inputs[std::size_t(operand)]].shape;
    for (int axis = 0; axis < shape.rank(); ++axis) {
        const AxisUse use = axis_use(graph, id, operand, axis);
        const std::string words[]{std::to_string(use.to), "r", "m", "x"};
        text += (axis ? " " : "") + words[int(use.along)];
    }
    return text;
}

/// Changes the elements at each position of each axis of an operand, and looks where the result
/// changes.
void check_maps(const Graph& graph, int id, int operand, const Arrays& arrays) {
    const std::string name(graph[graph[id].inputs[std::size_t(operand)]].name);
    const Array before = run(graph, arrays);
    const Extents& shape = arrays.at(name).shape;
    for (int axis = 0; axis < int(shape.size()); ++axis) {
        const AxisUse use = axis_use(graph, id, operand, axis);
        if (use.along != Along::maps || shape[std::size_t(axis)] == 1) continue;
        for (std::int64_t p = 0; p < shape[std::size_t(axis)]; ++p) {
            Arrays changed = arrays;
            std::vector<double>& values = changed.at(name).values;
            for (std::size_t i = 0; i < values.size(); ++i)
                if (position(shape, i, axis) == p) values[i] = values[i] < 1 ? 1 : 0;
            const Array after = run(graph, changed);
            for (std::size_t i = 0; i < after.values.size(); ++i)
                if (position(after.shape, i, use.to) != p)
                    CHECK(after.values[i] == before.values[i]);
        }
    }
}

/// The last op that `op` makes of operands of these shapes; `expected`: for each of them.
template <class F>
void check_axes(const std::vector<Extents>& shapes, const std::vector<std::string>& expected,
                F&& op) {
    Graph graph;
    Arrays arrays;
    std::vector<Tensor> x;
    constexpr const char* kNames[]{"a", "b", "c"};
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        x.push_back(input(graph, kNames[i], shapes[i]));
        arrays[kNames[i]] = random_array(shapes[i], unsigned(i), 0, 0.9);
    }
    const Tensor y = op(x);
    output("y", y);
    CAPTURE(row_of(y.node().op).name);
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        CHECK(uses_of(graph, y.id, int(i)) == expected[i]);
        check_maps(graph, y.id, int(i), arrays);
    }
}
using Tensors = std::vector<Tensor>;

}  // namespace

TEST_CASE("axes: ops of single elements map") {
    check_axes({{2, 3}, {3}}, {"0 1", "1"}, [](Tensors x) { return x[0] * x[1]; });
    check_axes({{2, 3}, {4, 1, 3}}, {"1 2", "0 1 2"}, [](Tensors x) { return x[0] - x[1]; });
    check_axes({{3, 1}}, {"1 2"}, [](Tensors x) { return broadcast(x[0], {2, 3, 4}); });
    check_axes({{3, 2}}, {"0 1"}, [](Tensors x) { return stop_gradient(x[0]); });
}

TEST_CASE("axes: sums reduce, softmax mixes") {
    check_axes({{2, 3}}, {"0 r"}, [](Tensors x) { return reduce(Reduction::sum, x[0], 2); });
    check_axes({{2, 3, 4}}, {"r 1 r"}, [](Tensors x) { return reduce(Reduction::max, x[0], 5); });
    check_axes({{2, 3}, {4, 3}}, {"0 r", "1 r"},
               [](Tensors x) { return einsum("i k, j k -> i j", x[0], x[1]); });
    check_axes({{5, 2, 3}, {5, 3}}, {"1 0 r", "1 r"},
               [](Tensors x) { return einsum("b i k, b k -> i b", x[0], x[1]); });
    check_axes({{2, 3}}, {"x 1"}, [](Tensors x) { return softmax(x[0], 0); });
    check_axes({{2, 3, 4}, {4}, {4}}, {"0 1 x", "2", "2"},
               [](Tensors x) { return layer_norm(x[0], x[1], x[2], 1e-5); });
    check_axes({{2, 3}}, {"0 1"}, [](Tensors x) { return dropout(x[0], 0.5); });
}

TEST_CASE("axes: what is moved, and what stays whole") {
    check_axes({{2, 3, 4}}, {"0 2 1"}, [](Tensors x) { return rearrange(x[0], "a b c -> a c b"); });
    check_axes({{2, 6}}, {"1 m"},
               [](Tensors x) { return rearrange(x[0], "a (b c) -> b a c", {"b", 2}); });
    check_axes({{2, 3, 4}}, {"m m 1"},
               [](Tensors x) { return rearrange(x[0], "a b c -> (a b) c"); });
    check_axes({{4, 3}}, {"m 1"}, [](Tensors x) { return slice(x[0], 0, 1, 2); });
    check_axes({{2, 3}, {2, 1}, {2, 2}}, {"0 m", "0 m", "0 m"},
               [](Tensors x) { return concat(x, 1); });
    check_axes({{2, 3}}, {"0 m"}, [](Tensors x) { return pad(x[0], 1, 1, 2); });
}

TEST_CASE("axes: rows that are looked up") {
    const auto first = [](Tensor x) { return cast(x, i32); };
    check_axes({{2, 4}}, {"x 2"},
               [&](Tensors x) { return gather(x[0], first(full(*x[0].graph, {3, 2}, 1))); });
    check_axes({{3, 2, 4}}, {"x x 1"}, [&](Tensors x) {
        return scatter_add(x[0], first(full(*x[0].graph, {3, 2}, 1)), 5);
    });
}

TEST_CASE("axes: what is done to each row apart") {
    CHECK(mixed([](Tensor x, Tensor w) { return tanh(linear_product(x, w)) + x; }) == "");
    CHECK(mixed([](Tensor x, Tensor) { return x - sum(x, 1, true); }) == "");
    CHECK(mixed([](Tensor x, Tensor) { return concat(slice(x, 1, 0, 2), x, 1); }) == "");
    CHECK(mixed([](Tensor x, Tensor) { return rearrange(x, "b (h d) -> b h d", {"h", 2}); }) == "");
    CHECK(mixed([](Tensor x, Tensor) { return einsum("b i, b j -> b i j", x, x); }) == "");
}

TEST_CASE("axes: what mixes rows, or moves them") {
    CHECK(mixed([](Tensor x, Tensor) { return x - sum(x, 0, true); }) == "reduce mixes them");
    CHECK(mixed([](Tensor x, Tensor w) { return w + sum(x, 0, true); }) == "reduce mixes them");
    CHECK(mixed([](Tensor x, Tensor) { return einsum("b i, b j -> i j", x, x); }) ==
          "einsum mixes them");
    CHECK(mixed([](Tensor x, Tensor) { return rearrange(x, "b i -> i b"); }) ==
          "a value has them in another place");
    CHECK(mixed([](Tensor x, Tensor) { return slice(x, 0, 0, 1); }) == "slice mixes them");
    CHECK(mixed([](Tensor x, Tensor) { return x + cast(iota(*x.graph, {x.dim(0), 1}, 0), f32); }) ==
          "iota mixes them");
    CHECK(mixed([](Tensor x, Tensor) { return x * x.dim(0); }) == "extent mixes them");
}
