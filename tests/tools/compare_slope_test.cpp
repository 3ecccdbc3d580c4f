// Gradients that are slopes, gradients that are not, and slopes that cannot be told.
#include "tools/fovea/verify/compare_slope.h"

#include <doctest/doctest.h>

#include "codegen/autodiff/add_gradients.h"
#include "dsl/fovea.h"

using namespace fovea;
using namespace fovea::tool;

namespace {

template <class Body>
Graph graph_of(const Body& body) {
    Graph graph;
    Scope s{&graph};
    s.output("y", body(s.input("x", {3})));
    return graph;
}

/// A program that computes one function and has the gradient of another.
CompiledProgram program_of(const Graph& function, const Graph& of_gradient) {
    CompiledProgram program;
    program.graph = function;
    program.gradient = add_gradients(of_gradient, {.from_loss = false, .of_inputs = true});
    return program;
}

Slope slope_of(const CompiledProgram& program, const std::vector<double>& x) {
    FiniteDifferences differences(program, {}, {{"x", {{3}, x}}, {"y.grad", {{3}, {1, -2, 0.5}}}},
                                  {});
    return compare_slope(differences, "x", 1);
}

}  // namespace

TEST_CASE("the gradient of a smooth function is its slope") {
    const Graph function = graph_of([](Tensor x) { return sin(x) * exp(x * 0.5); });
    CHECK(slope_of(program_of(function, function), {0.3, -1.2, 2}).kind == Slope::Kind::same);
}

TEST_CASE("a gradient that is a hundredth too large is found") {
    const Graph function = graph_of([](Tensor x) { return sin(x) * exp(x * 0.5); });
    const Graph other = graph_of([](Tensor x) { return sin(x) * exp(x * 0.5) * 1.01; });
    const Slope slope = slope_of(program_of(function, other), {0.3, -1.2, 2});
    CHECK(slope.kind == Slope::Kind::other);
    CHECK(slope.text.find("along a direction where the slope is") != std::string::npos);
}

TEST_CASE("a gradient of 0 where there is a slope is found") {
    const Graph function = graph_of([](Tensor x) { return x * x; });
    const Graph other = graph_of([](Tensor x) { return stop_gradient(x * x); });
    CHECK(slope_of(program_of(function, other), {0.3, -1.2, 2}).kind == Slope::Kind::other);
}

TEST_CASE("what stop_gradient gives does not move") {
    const Graph function = graph_of([](Tensor x) { return x * stop_gradient(x); });
    CHECK(slope_of(program_of(function, function), {0.3, -1.2, 2}).kind == Slope::Kind::same);
}

TEST_CASE("steps that come upon a kink tell nothing, shorter ones do") {
    const Graph function = graph_of([](Tensor x) { return relu(x); });
    CHECK(slope_of(program_of(function, function), {0.00003, -0.002, 2}).kind == Slope::Kind::same);
}

TEST_CASE("differences that rounding has made tell nothing") {
    const Graph function = graph_of([](Tensor x) { return (x + 1e13) - 1e13; });
    CHECK(slope_of(program_of(function, function), {0.3, -1.2, 2}).kind == Slope::Kind::untold);
}

TEST_CASE("a kink or a jump at the point itself tells nothing") {
    const Graph kink = graph_of([](Tensor x) { return relu(x); });
    CHECK(slope_of(program_of(kink, kink), {0, 0, 0}).kind == Slope::Kind::untold);
    const Graph jump = graph_of([](Tensor x) {
        Tensor same = stop_gradient(x);
        return where(eq(x, same), same, x - same);
    });
    CHECK(slope_of(program_of(jump, jump), {0.3, -1.2, 2}).kind == Slope::Kind::untold);
}

TEST_CASE("whole parts do not move, however many steps they take") {
    const Graph function =
        graph_of([](Tensor x) { return x + cast(cast(x * 1e9, i32), f32) * 1e-9; });
    CHECK(slope_of(program_of(function, function), {0.3, -1.2, 2}).kind == Slope::Kind::same);
}

TEST_CASE("nor do functions of steps") {
    for (auto steps : {floor<>, ceil<>, round<>, sign<>}) {
        const Graph function =
            graph_of([&](Tensor x) { return x + steps(sin(x * 1e9), Location::here()) * 1e-9; });
        CHECK(slope_of(program_of(function, function), {0.3, -1.2, 2}).kind == Slope::Kind::same);
    }
}

TEST_CASE("a large term that does not move hides no slope") {
    const Graph function = graph_of([](Tensor x) {
        Tensor first = eq(iota(*x.graph, {3}, 0), 0);
        return where(first, full(*x.graph, {3}, 1e12), x * x);
    });
    CHECK(slope_of(program_of(function, function), {0.3, -1.2, 2}).kind == Slope::Kind::same);
}

TEST_CASE("kinks at the point tell nothing where their bends come to nothing together") {
    const Graph function = graph_of([](Tensor x) {
        Tensor place = iota(*x.graph, {3}, 0);
        Tensor up = relu(x) * 4.0, down = relu(-x) * -2.0;  // times 0.5 and 1
        return where(eq(place, 0), down, where(eq(place, 2), up, x));
    });
    CHECK(slope_of(program_of(function, function), {0, 0, 0}).kind == Slope::Kind::untold);
}

TEST_CASE("what goes up and down within every long step tells nothing") {
    const Graph function = graph_of([](Tensor x) { return cos(x * 3e7); });
    const Graph wrong = graph_of([](Tensor x) { return cos(x * 3e7) * 1.01; });
    CHECK(slope_of(program_of(function, function), {0.3, -1.2, 2}).kind != Slope::Kind::other);
    CHECK(slope_of(program_of(function, wrong), {0.3, -1.2, 2}).kind != Slope::Kind::same);
    const Graph both = graph_of([](Tensor x) { return cos(x * 3e7) + x * 3e8; });
    CHECK(slope_of(program_of(both, both), {0.3, -1.2, 2}).kind != Slope::Kind::other);
}
