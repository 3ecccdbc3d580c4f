// Every row of the table of elementwise functions: values, broadcasting and gradients.
#include "codegen/ops/elementwise.h"

#include <limits>

#include "codegen/ops/composed/conditions.h"
#include "codegen/ops/ternary.h"
#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

namespace {

struct Known {
    Elementwise function;
    double x, y, z, value;
};

// Computed apart, to 15 digits.
constexpr Known kKnown[] = {
    {Elementwise::identity, -1.5, 0, 0, -1.5},
    {Elementwise::neg, 2.5, 0, 0, -2.5},
    {Elementwise::exp, 1, 0, 0, 2.71828182845905},
    {Elementwise::log, 10, 0, 0, 2.30258509299405},
    {Elementwise::exp2, 1.5, 0, 0, 2.82842712474619},
    {Elementwise::log2, 10, 0, 0, 3.32192809488736},
    {Elementwise::sqrt, 2, 0, 0, 1.41421356237310},
    {Elementwise::rsqrt, 4, 0, 0, 0.5},
    {Elementwise::tanh, 0.5, 0, 0, 0.462117157260010},
    {Elementwise::sigmoid, -1, 0, 0, 0.268941421369995},
    {Elementwise::relu, -3, 0, 0, 0},
    {Elementwise::relu, 3, 0, 0, 3},
    {Elementwise::erf, 0.5, 0, 0, 0.520499877813047},
    {Elementwise::sin, 1, 0, 0, 0.841470984807897},
    {Elementwise::cos, 1, 0, 0, 0.540302305868140},
    {Elementwise::exp_exponent, 10, 0, 0, 14},
    {Elementwise::exp_exponent, -0.4, 0, 0, -1},
    {Elementwise::exp_significand, 10, 0, 0, 1.34438878142131},
    {Elementwise::exp_significand, -0.4, 0, 0, 1.34064009207128},
    {Elementwise::logical_not, 1, 0, 0, 0},
    {Elementwise::abs, -2.5, 0, 0, 2.5},
    {Elementwise::sign, -2.5, 0, 0, -1},
    {Elementwise::sign, 0, 0, 0, 0},
    {Elementwise::sign, 0.1, 0, 0, 1},
    {Elementwise::floor, -2.5, 0, 0, -3},
    {Elementwise::ceil, -2.5, 0, 0, -2},
    {Elementwise::round, -2.5, 0, 0, -2},
    {Elementwise::round, 3.5, 0, 0, 4},
    {Elementwise::expm1, 0.5, 0, 0, 0.648721270700128},
    {Elementwise::log1p, 0.5, 0, 0, 0.405465108108164},
    {Elementwise::atan2, 1, -1, 0, 2.35619449019234},
    {Elementwise::add, 2, 3, 0, 5},
    {Elementwise::sub, 2, 3, 0, -1},
    {Elementwise::mul, 2, 3, 0, 6},
    {Elementwise::div, 3, 2, 0, 1.5},
    {Elementwise::maximum, 2, 3, 0, 3},
    {Elementwise::minimum, 2, 3, 0, 2},
    {Elementwise::pow, 2, 0.5, 0, 1.41421356237310},
    {Elementwise::tanh_of_exp, 0.75, 2, 0, 0.5},
    {Elementwise::sigmoid_of_exp, 0.75, 2, 0, 0.25},
    {Elementwise::sin_scaled, 3, -2, 0.5, 0.872678031775997},
    {Elementwise::cos_scaled, 3, -2, 0.5, 0.488296070899175},
    {Elementwise::lt, 2, 2, 0, 0},
    {Elementwise::le, 2, 2, 0, 1},
    {Elementwise::eq, 2, 2, 0, 1},
    {Elementwise::logical_and, 1, 0, 0, 0},
    {Elementwise::logical_or, 1, 0, 0, 1},
    {Elementwise::where, 0, 2, 3, 3},
    {Elementwise::where, 1, 2, 3, 2},
};

bool is_logic(const ElementwiseRow& row) { return row.takes == Takes::booleans; }

/// The row's function of float operands: conditions come from comparing the first with 0.
Tensor apply(const ElementwiseRow& row, Tensor a, Tensor b, Tensor c) {
    if (row.function == Elementwise::where) return where(a > 0.0, b, c);
    if (is_logic(row)) {
        Tensor p = a > 0.0, q = b > 0.0;
        Tensor r = row.arity == 1 ? unary(row.function, p) : binary(row.function, p, q);
        return cast(r, f32);
    }
    if (row.arity == 3) return detail::ternary(row.function, a, b, c);
    Tensor y = row.arity == 1 ? unary(row.function, a) : binary(row.function, a, b);
    return cast(y, f32);
}

}  // namespace

TEST_CASE("every function has a known value, and gives it") {
    for (const ElementwiseRow& row : kElementwise) {
        int known = 0;
        for (const Known& k : kKnown) {
            if (k.function != row.function) continue;
            ++known;
            CHECK(row.value(k.x, k.y, k.z) == doctest::Approx(k.value).epsilon(1e-13));
        }
        CHECK_MESSAGE(known > 0, row.name, " has no known value in this test");
    }
}

TEST_CASE("values and gradients of every function, broadcasting") {
    const Extents shapes[][3] = {{{2, 3}, {2, 3}, {2, 3}},
                                 {{3}, {2, 3}, {2, 1}},
                                 {{5, 1, 3}, {7, 1}, {1, 7, 3}},
                                 {{}, {4}, {}},
                                 {{1}, {1, 1}, {1}},
                                 {{0, 3}, {3}, {0, 1}},
                                 {{}, {}, {}}};
    for (const ElementwiseRow& row : kElementwise)
        for (const auto& shape : shapes) {
            INFO("function ", row.name, ", rank ", shape[0].size());
            Graph graph;
            Tensor a = input(graph, "a", shape[0]), b = input(graph, "b", shape[1]),
                   c = input(graph, "c", shape[2]);
            output("y", apply(row, a, b, c));
            bool positive =
                row.function == Elementwise::log || row.function == Elementwise::log2 ||
                row.function == Elementwise::sqrt || row.function == Elementwise::rsqrt ||
                row.function == Elementwise::pow || row.function == Elementwise::log1p ||
                row.function == Elementwise::tanh_of_exp ||
                row.function == Elementwise::sigmoid_of_exp;
            Arrays arrays{{"a", random_array(shape[0], 1, positive ? 0.3 : -1, 1)},
                          {"b", random_array(shape[1], 2, 0.2, 1)},
                          {"c", random_array(shape[2], 3)}};
            check_gradients(graph, arrays);
        }
}

TEST_CASE("a tie of maximum gives each operand half of the gradient") {
    for (Elementwise function : {Elementwise::maximum, Elementwise::minimum}) {
        Graph graph;
        output("y", binary(function, input(graph, "a", {2}), input(graph, "b", {2})));
        Graph with = add_gradients(graph, {.from_loss = false, .of_inputs = true});
        Arrays arrays{{"a", filled({2}, 1)}, {"b", filled({2}, 1)}, {"y.grad", filled({2}, 3)}};
        check_close(run(with, arrays, "a.grad"), filled({2}, 1.5));
        check_close(run(with, arrays, "b.grad"), filled({2}, 1.5));
    }
}

TEST_CASE("a power of 0 has no gradient, of the base 0 neither") {
    Graph graph;
    const Tensor x = input(graph, "x", {3}), power = input(graph, "power", {3});
    output("y", pow(x, power) + pow(x, 0.0));
    const Graph with = add_gradients(graph, {.from_loss = false, .of_inputs = true});
    const Arrays arrays{
        {"x", {{3}, {0, 2, 0}}}, {"power", {{3}, {0, 0, 2}}}, {"y.grad", filled({3}, 1)}};
    check_close(run(with, arrays, "x.grad"), filled({3}, 0));
}

TEST_CASE("conditions are joined by operators, too") {
    Graph graph;
    Tensor x = input(graph, "x", {5});
    output("y", cast((x > 0.0 && !(x > 2.0)) || x < -1.0, f32));
    check_close(run(graph, {{"x", {{5}, {-2, -1, 1, 2, 3}}}}), {{5}, {1, 0, 1, 1, 0}});
}

TEST_CASE("elements are compared by operators, NaN with nothing") {
    Graph graph;
    Tensor x = input(graph, "x", {4}), z = input(graph, "z", {4});
    output("y", cast(x == 2.0, f32) + cast(1 != x, f32) * 2.0 + cast(x == z, f32) * 4.0);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    check_close(run(graph, {{"x", {{4}, {1, 2, 3, nan}}}, {"z", {{4}, {1, 0, 3, nan}}}}),
                {{4}, {4, 3, 6, 2}});
}

TEST_CASE("casts") {
    Graph graph;
    Tensor x = input(graph, "x", {3});
    output("y", cast(cast(x, i32), f32));
    Arrays arrays{{"x", {{3}, {-1.5, 0, 2.7}}}};
    check_close(run(graph, arrays), {{3}, {-1, 0, 2}});
}

TEST_CASE("no gradient passes stop_gradient") {
    Graph graph;
    Tensor x = input(graph, "x", {3});
    output("y", x * stop_gradient(x));
    Graph with = add_gradients(graph, {.from_loss = false, .of_inputs = true});
    Arrays arrays{{"x", {{3}, {1, 2, 3}}}, {"y.grad", filled({3}, 1)}};
    check_close(run(with, arrays, "x.grad"), {{3}, {1, 2, 3}});
}

TEST_CASE("a cast to bf16 rounds, ties to even") {
    Graph graph;
    Tensor rounded = cast(cast(input(graph, "x", {4}), bf16), f32);
    output("y", rounded);
    const Array x{{4}, {1.0 + 0x1p-8, 1.0 + 3 * 0x1p-8, 1.0 + 0x1p-8 + 0x1p-20, -3.1415927}};
    check_close(run(graph, {{"x", x}}), {{4}, {1, 1.0 + 0x1p-6, 1.0 + 0x1p-7, -3.140625}});
}
