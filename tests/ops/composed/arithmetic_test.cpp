// Functions made of elementwise ones: PyTorch's values and gradients.
#include "codegen/ops/composed/arithmetic.h"

#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

namespace {

/// The values of f(a, b), of i32 or f32.
std::vector<double> applied(DType type, const std::vector<double>& a, const std::vector<double>& b,
                            Tensor (*f)(Operand, Operand)) {
    const Extents shape{std::int64_t(a.size())};
    Graph graph;
    Tensor y = f(input(graph, "a", shape, type), input(graph, "b", shape, type));
    CHECK(y.dtype() == type);
    output("y", y);
    return run(graph, {{"a", {shape, a}}, {"b", {shape, b}}}).values;
}

Tensor quotient(Operand a, Operand b) { return floor_divide(a, b); }
Tensor rest(Operand a, Operand b) { return a % b; }
using Numbers = std::vector<double>;

}  // namespace

TEST_CASE("floor_divide and remainder go down, as Python's, whatever the signs") {
    const Numbers a = {7, -7, 7, -7, 0, -8}, b = {3, 3, -3, -3, 5, 2};
    CHECK(applied(i32, a, b, quotient) == Numbers{2, -3, -3, 2, 0, -4});
    CHECK(applied(i32, a, b, rest) == Numbers{1, 2, -2, -1, 0, 0});
    const Numbers c = {7.5, -7.5, 7.5, -7.5, 0, -8}, d = {2, 2, -2, -2, 5, 2};
    CHECK(applied(f32, c, d, quotient) == Numbers{3, -4, -4, 3, 0, -4});
    CHECK(applied(f32, c, d, rest) == Numbers{1.5, 0.5, -0.5, -1.5, 0, 0});
}

TEST_CASE("every pair of small whole numbers, and the ends of i32") {
    Numbers a, b, down, left;
    for (int x = -9; x <= 9; ++x)
        for (int y = -9; y <= 9; ++y) {
            if (y == 0) continue;
            const double whole = std::floor(double(x) / y);
            a.push_back(x), b.push_back(y), down.push_back(whole), left.push_back(x - y * whole);
        }
    for (double end : {-2147483648.0, 2147483647.0})
        for (double y : {-2147483647.0, -2.0, 1.0, 3.0, 2147483647.0}) {
            const double whole = std::floor(end / y);
            a.push_back(end), b.push_back(y), down.push_back(whole);
            left.push_back(end - y * whole);
        }
    CHECK(applied(i32, a, b, quotient) == down);
    CHECK(applied(i32, a, b, rest) == left);
}

TEST_CASE("numbers and sizes divide, too") {
    Graph graph;
    Tensor x = input(graph, "x", {4}, i32);
    output("by_number", x % 3);
    output("by_negative", floor_divide(x, -3));
    output("by_size", x % Dim(5));
    output("of_number", floor_divide(7, x));
    const Arrays arrays{{"x", {{4}, {-7, 7, 3, -1}}}};
    CHECK(run(graph, arrays, "by_number").values == Numbers{2, 1, 0, 2});
    CHECK(run(graph, arrays, "by_negative").values == Numbers{2, -3, -1, 0});
    CHECK(run(graph, arrays, "by_size").values == Numbers{3, 2, 3, 4});
    CHECK(run(graph, arrays, "of_number").values == Numbers{-1, 1, 2, -7});
}

TEST_CASE("a remainder of floats has slopes") {
    Graph graph;
    output("y", input(graph, "a", {5}) % input(graph, "b", {5}));
    check_gradients(graph, {{"a", {{5}, {-3.3, 2.2, 7.1, -0.4, 0.9}}},
                            {"b", {{5}, {1.2, -0.7, 2.3, 0.9, -1.1}}}});
}

TEST_CASE("clamp has a gradient inside its bounds, which belong to it") {
    const Array x{{6}, {-2, -1, -0.5, 0.25, 1, 2}};
    check_known(x, {{6}, {-1, -1, -0.5, 0.25, 1, 1}}, {{6}, {0, 2, 3, 4, 5, 0}},
                [](Tensor a) { return clamp(a, -1, 1); });
    check_known(x, filled({6}, -1), filled({6}, 0), [](Tensor a) { return clamp(a, 1, -1); });
}

TEST_CASE("clamp between tensors gives them gradients, and keeps NaN") {
    Graph graph;
    output("y", clamp(input(graph, "x", {4}), input(graph, "low", {4}), input(graph, "high", {4})));
    check_gradients(graph, {{"x", {{4}, {-2, 0.5, 3, 0.1}}},
                            {"low", {{4}, {-1, 0, 0, 0.2}}},
                            {"high", {{4}, {1, 1, 1, 1}}}});
    Graph numbers;
    output("y", clamp(input(numbers, "x", {1}), 0, 1));
    CHECK(std::isnan(run(numbers, {{"x", filled({1}, std::nan(""))}}).values[0]));
}

TEST_CASE("trunc, square, reciprocal, tan and atan") {
    const auto values = [](auto f) {
        Graph graph;
        output("y", f(input(graph, "x", {4})));
        return run(graph, {{"x", {{4}, {-1.5, -0.25, 0.5, 2.75}}}});
    };
    check_close(values([](Tensor x) { return trunc(x); }), {{4}, {-1, 0, 0, 2}});
    check_close(values([](Tensor x) { return square(x); }), {{4}, {2.25, 0.0625, 0.25, 7.5625}});
    check_close(values([](Tensor x) { return reciprocal(x); }), {{4}, {-2.0 / 3, -4, 2, 4.0 / 11}});
    check_close(values([](Tensor x) { return tan(x); }),
                {{4}, {std::tan(-1.5), std::tan(-0.25), std::tan(0.5), std::tan(2.75)}});
    check_close(values([](Tensor x) { return atan(x); }),
                {{4}, {std::atan(-1.5), std::atan(-0.25), std::atan(0.5), std::atan(2.75)}});
}

TEST_CASE("atan2 has no gradient at the origin, as PyTorch's") {
    Graph graph;
    output("angle", atan2(input(graph, "y", {3}), input(graph, "x", {3})));
    Graph with = add_gradients(graph, {.from_loss = false, .of_inputs = true});
    const Arrays arrays{
        {"y", {{3}, {0, 1, -1}}}, {"x", filled({3}, 0)}, {"angle.grad", filled({3}, 1)}};
    check_close(run(with, arrays, "y.grad"), filled({3}, 0));
    check_close(run(with, arrays, "x.grad"), {{3}, {0, -1, 1}});
}
