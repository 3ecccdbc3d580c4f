// Each op for many elements at once, beside the op for one after the other.
#include "codegen/graph/batcher.h"

#include <doctest/doctest.h>
#include <fovea.h>

#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

namespace {

using Tensors = std::vector<Tensor>;

/// The axes in front of an operand, by its number: no two operands change along the same ones.
constexpr std::int64_t kFront[3][2] = {{2, 1}, {1, 3}, {2, 3}};
constexpr const char* kNames[]{"a", "b", "c"};

/// Part (i, j) of a value with two axes in front; one of size 1 has one part.
Array part(const Array& all, std::int64_t i, std::int64_t j) {
    Array one{{all.shape.begin() + 2, all.shape.end()}, {}};
    const std::int64_t row = all.shape[0] == 1 ? 0 : i, column = all.shape[1] == 1 ? 0 : j;
    const auto first = all.values.begin() + (row * all.shape[1] + column) * one.size();
    one.values.assign(first, first + one.size());
    return one;
}

/// Of operands of these shapes, those in `along` (bits) one for each element. `type`: of the
/// second one, whose numbers are then 0 and 1.
template <class F>
void check_many(const std::vector<Extents>& shapes, unsigned along, F&& op, DType second = f32) {
    Graph function, many;
    Tensors x;
    Arrays arrays;
    for (std::size_t i = 0; i < shapes.size(); ++i)
        x.push_back(input(function, kNames[i], shapes[i], i == 1 ? second : f32));
    const Tensor y = op(x);
    CAPTURE(row_of(y.node().op).name);
    output("y", y);

    Batcher batcher(function, many, 2);
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        Extents shape = shapes[i];
        const bool changes = along >> i & 1;
        if (changes) shape.insert(shape.begin(), kFront[i], kFront[i] + 2);
        batcher.define(x[i].id, {input(many, kNames[i], shape, x[i].dtype()), changes});
        Array& array = arrays[kNames[i]] = random_array(shape, unsigned(i));
        if (x[i].dtype() == i32)
            for (double& value : array.values) value = value > 0;
    }
    const Batched all = batcher.value(y.id);
    REQUIRE(all.along == (along != 0));
    output("y", all.tensor);
    const Array together = run(many, arrays);
    for (std::int64_t i = 0; i < 2; ++i)
        for (std::int64_t j = 0; j < 3; ++j) {
            Arrays one = arrays;
            for (std::size_t k = 0; k < shapes.size(); ++k)
                if (along >> k & 1) one[kNames[k]] = part(arrays[kNames[k]], i, j);
            check_close(along ? part(together, i, j) : together, run(function, one));
        }
}
template <class F>
void check_many(const std::vector<Extents>& shapes, F&& op, DType second = f32) {
    for (unsigned along = 0; along < 1U << shapes.size(); ++along)
        check_many(shapes, along, op, second);
}

}  // namespace

TEST_CASE("batcher: ops of single elements") {
    check_many({{2, 3}, {3}}, [](Tensors x) { return x[0] * x[1]; });
    check_many({{3}, {2, 3}, {2, 1}}, [](Tensors x) { return where(x[0] < x[1], x[1], x[2]); });
    check_many({{2}}, [](Tensors x) { return tanh(stop_gradient(x[0])); });
    check_many({{}, {4}}, [](Tensors x) { return x[0] + x[1]; });
    check_many({{3, 1}}, [](Tensors x) { return broadcast(x[0], {2, 3, 4}); });
    check_many({{2, 3}},
               [](Tensors x) { return x[0] + cast(iota(*x[0].graph, {2, 1}, 0), f32) * Dim(5); });
}

TEST_CASE("batcher: sums and products") {
    check_many({{2, 3}}, [](Tensors x) { return sum(x[0], 0); });
    check_many({{2, 3}}, [](Tensors x) { return amax(x[0], 1, true); });
    check_many({{2, 3}, {4, 3}}, [](Tensors x) { return einsum("i k, j k -> j i", x[0], x[1]); });
    check_many({{2}, {2}}, [](Tensors x) { return dot(x[0], x[1]); });
    check_many({{2, 3}}, [](Tensors x) { return softmax(x[0], 0); });
}

TEST_CASE("batcher: what moves values") {
    check_many({{2, 6}}, [](Tensors x) { return rearrange(x[0], "a (b c) -> b a c", {"b", 2}); });
    check_many({{4, 2}}, [](Tensors x) { return slice(x[0], 0, 1, 2); });
    check_many({{2, 1}, {2, 2}, {2, 3}}, [](Tensors x) { return concat(x, 1); });
    check_many({{2, 3}}, [](Tensors x) { return pad(x[0], 1, 2, 1); });
}

TEST_CASE("batcher: rows by an id") {
    const auto look_up = [](Tensors x) { return gather(x[0], x[1]); };
    for (unsigned along : {0, 2}) check_many({{2, 3}, {4}}, along, look_up, i32);
    check_many({{3}, {}}, [](Tensors x) { return scatter_add(x[0], x[1], 2); }, i32);
}

TEST_CASE("batcher: what cannot be taken for many is refused") {
    const auto why_not = [](const std::vector<Extents>& shapes, unsigned along, auto op) {
        Graph graph;
        Tensors x;
        for (std::size_t i = 0; i < shapes.size(); ++i)
            x.push_back(input(graph, kNames[i], shapes[i], i == 1 ? i32 : f32));
        return std::string(why_not_batched(graph, op(x).id, along, 2).value_or(""));
    };
    const auto look_up = [](Tensors x) { return gather(x[0], x[1]); };
    CHECK(why_not({{2, 3}, {4}}, 1, look_up) == "its table is another one for each");
    CHECK(why_not({{2, 3}, {4}}, 2, look_up) == "");
    CHECK(why_not({{4, 3}, {4}}, 3, [](Tensors x) { return scatter_add(x[0], x[1], 2); }) ==
          "it adds more than one row");
    const auto norm = [](Tensors x) { return layer_norm(x[0], x[0], x[0]); };
    CHECK(why_not({{3}}, 1, norm) == "it is not known for many at once");
    CHECK(why_not({{3}}, 0, norm) == "");
}
