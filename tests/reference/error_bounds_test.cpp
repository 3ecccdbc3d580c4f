// Bounds hold for arithmetic in float32, and are not far from what it does.
#include "codegen/reference/error_bounds.h"

#include <cmath>

#include "codegen/ops/contraction.h"
#include "codegen/ops/softmax.h"
#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

namespace {

/// The bounds of output y, for one input x.
Array bounds_of(const Graph& graph, const Array& x) {
    Interpreter interpreter(graph);
    interpreter.set("x", x);
    return ErrorBounds(interpreter).of_output("y");
}

}  // namespace

TEST_CASE("moving values rounds nothing") {
    Graph graph;
    output("y", rearrange(input(graph, "x", {2, 3}), "a b -> b a"));
    for (double bound : bounds_of(graph, {{2, 3}, {1, 2, 3, 4, 5, 6}}).values) CHECK(bound == 0);
}

TEST_CASE("a sum's bound follows the size of its terms, not that of the sum") {
    Graph graph;
    output("y", sum(input(graph, "x", {3}), 0, true));
    const Array bound = bounds_of(graph, {{3}, {1e6, -1e6, 1}});
    CHECK(bound.values[0] > 1e6 * 0x1p-24);
    CHECK(bound.values[0] < 1e7 * 0x1p-24);
    const float cancelled = 1e8F + 1.0F - 1e8F;  // 1 is lost
    Graph other;
    output("y", sum(input(other, "x", {3}), 0, true));
    CHECK(bounds_of(other, {{3}, {1e8, 1, -1e8}}).values[0] > std::abs(1.0 - double(cancelled)));
}

TEST_CASE("a difference of near values has the errors of both") {
    Graph graph;
    Tensor x = input(graph, "x", {1});
    Tensor third = x / 3.0;
    output("y", third * 3.0 - x);
    const Array bound = bounds_of(graph, {{1}, {1000}});
    CHECK(bound.values[0] > 1000 * 0x1p-24);
    CHECK(bound.values[0] < 1000 * 0x1p-20);
}

TEST_CASE("a comparison that may go either way may give either") {
    Graph graph;
    Tensor x = input(graph, "x", {2});
    Tensor same = (x / 3.0) * 3.0;
    output("y", where(same < x + 1e-7, full(graph, {2}, 5), full(graph, {2}, 7)));
    const Array bound = bounds_of(graph, {{2}, {1, 1000}});
    CHECK(bound.values[1] >= 2);
    CHECK(bound.values[0] >= 2);
}

TEST_CASE("what is made of a number beyond float32 has no bound") {
    Graph graph;
    Tensor x = input(graph, "x", {2});
    output("y", log(x * x + 1.0));
    const std::vector<double> bounds = bounds_of(graph, {{2}, {1e18, 1e20}}).values;
    CHECK(bounds[0] < 1e-4);
    CHECK(std::isinf(bounds[1]));
}

TEST_CASE("a division by what may be 0 has no bound") {
    Graph graph;
    Tensor x = input(graph, "x", {1});
    Tensor third = x / 3.0;
    Tensor nothing = third * 3.0 - x;
    output("y", 1.0 / (nothing + 1e-9));
    CHECK(std::isinf(bounds_of(graph, {{1}, {1000}}).values[0]));
}

TEST_CASE("a zero that was computed has either sign, and with it the angle behind it") {
    Graph graph;
    Tensor y = einsum("a, b -> a b", input(graph, "x", {2}), full(graph, {1}, 0));
    output("y", atan2(y, full(graph, {2, 1}, -1)));
    const Array bound = bounds_of(graph, {{2}, {1, -1}});
    CHECK(bound.values[0] > 6.2);
    CHECK(bound.values[1] > 6.2);
}

TEST_CASE("what is made of a quotient that may be no number has no bound either") {
    Graph graph;
    Tensor x = input(graph, "x", {1});
    Tensor near_zero = (x / 3.0) * 3.0 - x;
    output("y", tanh(1.0 / near_zero) + cos(1.0 / near_zero));
    CHECK(std::isinf(bounds_of(graph, {{1}, {1000}}).values[0]));
}

namespace {

/// y = (x b + 1) c of the interpreter, which rounds the sum to bfloat16, in any of its forms.
struct RoundedSum {
    RoundedSum() {
        Tensor x = input(graph, "x", {1, 2}), b = input(graph, "b", {2, 1});
        Tensor kept = einsum("i k, k j -> i j", x, b) + 1.0;
        node = kept.id;
        output("kept", kept);
        output("y", kept * 3.0);
    }
    void set(Interpreter& interpreter) const {
        interpreter.set("x", {{1, 2}, {1.0 + 0x1p-20, 3}});
        interpreter.set("b", {{2, 1}, {1, 0.125}});
        std::vector<DType> memory(graph.nodes.size(), f32);
        memory[std::size_t(node)] = half;
        interpreter.round_to_memory(memory, half);
    }

    Graph graph;
    int node = 0;
    DType half = bf16;
};

}  // namespace

TEST_CASE("what is rounded to bfloat16 may be its neighbour there, or not rounded yet") {
    const RoundedSum sum;
    Interpreter interpreter(sum.graph);
    sum.set(interpreter);
    ErrorBounds bounds(interpreter);
    const double kept = bounds.of_output("kept").values[0], y = bounds.of_output("y").values[0];
    CHECK(interpreter.output("kept").values[0] == 2.375);
    CHECK(kept > 0x1p-6);  // the distance of bfloat16's values from 2 to 4
    CHECK(kept < 0x1p-5);
    CHECK(y > 3 * 0x1p-6);
    CHECK(y < 3 * 0x1p-5);
}

TEST_CASE(
    "what is rounded to float16 is off by less than bfloat16's neighbours, unless it overflows") {
    RoundedSum sum;
    sum.half = f16;
    Interpreter interpreter(sum.graph);
    sum.set(interpreter);
    ErrorBounds bounds(interpreter);
    const double kept = bounds.of_output("kept").values[0];
    CHECK(interpreter.output("kept").values[0] == 2.375);
    CHECK(kept > 0x1p-9);
    CHECK(kept < 0x1p-8);
    // 65519 is rounded to the largest value, and with its error it may be infinite.
    interpreter.set("x", {{1, 2}, {65518, 0}});
    ErrorBounds of_large(interpreter);
    CHECK(interpreter.output("kept").values[0] == 65504);
    CHECK(std::isinf(of_large.of_output("kept").values[0]));
    // What is far less than 2^-24 may be that.
    interpreter.set("x", {{1, 2}, {-1, 0}});
    ErrorBounds of_small(interpreter);
    CHECK(interpreter.output("kept").values[0] == 0);
    const double small = of_small.of_output("kept").values[0];
    CHECK(small >= 0x1p-24);
    CHECK(small < 0x1p-9);
}

TEST_CASE("a cast to float16 moves by its values' distance, and is infinite or not") {
    Graph graph;
    output("y", cast(cast(input(graph, "x", {3}) / 3.0, f16), f32));
    const Array bound = bounds_of(graph, {{3}, {3, 3 * 65520, 1e30}});
    CHECK(bound.values[0] < 0x1p-9);
    CHECK(std::isinf(bound.values[1]));
    CHECK(bound.values[2] < 0x1p-100);
}

TEST_CASE("what a node is taken for has no error") {
    const RoundedSum sum;
    Interpreter interpreter(sum.graph);
    sum.set(interpreter);
    interpreter.assume({{sum.node, {{1, 1}, {2.5}}}});
    ErrorBounds bounds(interpreter);
    CHECK(interpreter.output("y").values[0] == 7.5);
    CHECK(bounds.of_output("kept").values[0] == 0);
    CHECK(bounds.of_output("y").values[0] < 7.5 * 0x1p-22);
}

TEST_CASE("factors that tf32 has lose nothing, others a digit of it") {
    Graph graph;
    output("y", einsum("i k, k j -> i j", input(graph, "x", {2, 1}), input(graph, "b", {1, 1})));
    Interpreter interpreter(graph, {.tf32 = true});
    interpreter.set("x", {{2, 1}, {1.5, 1.0 + 0x1p-20}});
    interpreter.set("b", {{1, 1}, {1}});
    const Array bound = ErrorBounds(interpreter).of_output("y");
    CHECK(bound.values[0] < 0x1p-20);
    CHECK(bound.values[1] >= 0x1p-10);
    CHECK(bound.values[1] < 0x1p-8);
}

TEST_CASE("a cast to bf16 moves by what lies between two values there, or not at all") {
    Graph graph;
    Tensor x = input(graph, "x", {2}) * 1.0000001;
    output("y", cast(cast(x, bf16), f32));
    const Array bound = bounds_of(graph, {{2}, {1.1, 1.0 + 0x1p-8}});
    CHECK(bound.values[0] < 1e-40);
    CHECK(bound.values[1] >= 0x1p-7);
}

TEST_CASE("a rounded value that equals a number may not equal it elsewhere") {
    Graph graph;
    Tensor x = input(graph, "x", {1});
    Tensor one = sum(softmax(x, 0), 0, true);
    output("y", where(eq(one, 1.0), full(graph, {1}, 5), full(graph, {1}, 7)));
    CHECK(bounds_of(graph, {{1}, {0.5}}).values[0] >= 2);
}

TEST_CASE("zeros that terms cancelled to may be told apart elsewhere") {
    Graph graph;
    Tensor x = input(graph, "x", {2});
    Tensor zeros = x / 3.0 - x / 3.0, largest = amax(zeros, 0, true);
    output("y", where(eq(zeros, largest), full(graph, {2}, 5), full(graph, {2}, 7)));
    for (double bound : bounds_of(graph, {{2}, {1, 1000}}).values) CHECK(bound >= 2);
}

TEST_CASE("a choice that may go the other way is rounded behind it, too") {
    Graph graph;
    Tensor x = input(graph, "x", {1});
    Tensor chosen = where((x / 3.0) * 3.0 < x, full(graph, {1}, 1), full(graph, {1}, 0));
    output("y", chosen * 0.1);
    const float other = 1.0F * 0.1F;
    CHECK(bounds_of(graph, {{1}, {1000}}).values[0] >= double(other));
}

TEST_CASE("tanh of a sum is off by what 1 is rounded by, of other values less near 0") {
    const auto bound = [](auto f) {
        Graph graph;
        output("y", tanh(f(input(graph, "x", {1}))));
        return bounds_of(graph, {{1}, {1e-3}}).values[0];
    };
    CHECK(bound([](Tensor x) { return x * 2.0; }) < 0x1p-30);
    CHECK(bound([](Tensor x) { return (x + x) * -1.0; }) >= 0x1p-24);
}

TEST_CASE("zeros that are added to a sum leave a bound that ignores lengths") {
    const auto bound = [](std::vector<double> values, bool ignores) {
        Graph graph;
        const int size = int(values.size());
        Tensor x = input(graph, "x", {1, size});
        output("y", einsum("i k, i k -> i", x, exp(x)) + sum(x, -1));
        Interpreter interpreter(graph);
        interpreter.set("x", {{1, size}, std::move(values)});
        ErrorBounds bounds(interpreter);
        if (ignores) bounds.ignore_lengths();
        return bounds.of_output("y").values[0];
    };
    CHECK(bound({1, 2}, true) == bound({1, 2, 0, 0}, true));
    CHECK(bound({1, 2}, true) != bound({1, 2, 1e-3, 0}, true));
    CHECK(bound({1, 2}, false) < bound({1, 2, 0, 0}, false));
}

TEST_CASE("equal values that a mean has more of have another bound, though lengths are ignored") {
    const auto bound = [](const std::vector<double>& values) {
        Graph graph;
        const auto size = std::int64_t(values.size());
        output("y", mean(input(graph, "x", {size}), 0, true));
        Interpreter interpreter(graph);
        interpreter.set("x", {{size}, values});
        ErrorBounds bounds(interpreter);
        bounds.ignore_lengths();
        return bounds.of_output("y").values[0];
    };
    CHECK(bound({3}) != bound({3, 3, 3}));
}

TEST_CASE("what a rounding decides has no bound where lengths are ignored") {
    const auto bound = [](double value, Tensor (*f)(Tensor)) {
        Graph graph;
        Tensor y = exp(input(graph, "x", {1}));
        output("y", where(eq(f(y), f(y - 1e-9)), y, -y));
        Interpreter interpreter(graph);
        interpreter.set("x", {{1}, {value}});
        ErrorBounds bounds(interpreter);
        bounds.ignore_lengths();
        return bounds.of_output("y").values[0];
    };
    CHECK(std::isinf(bound(0.25, [](Tensor y) { return y; })));
    CHECK(std::isinf(bound(0, [](Tensor y) { return floor(y); })));
    CHECK(std::isfinite(bound(0.25, [](Tensor y) { return floor(y); })));
}
