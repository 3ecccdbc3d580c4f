// Products that meet in an elementwise op are one kernel, forward and backward; turning by rotary
// positions is one kernel.
#include <doctest/doctest.h>

#include <algorithm>

#include "codegen/pipeline.h"
#include "dsl/fovea.h"

using namespace fovea;
using namespace fovea::fuse;

namespace {

CompiledProgram compiled_gates(const Graph& graph, Gradients gradients = Gradients::none) {
    return compile_model("m", "m.cpp", {},
                         {{.name = "p",
                           .graph = graph,
                           .gradients = gradients,
                           .fusion = {true, AttentionForm::fused}}})
        .programs[0];
}

Graph gated_model(Tensor (*open)(Tensor)) {
    Graph graph;
    Scope s{&graph};
    Tensor x = s.input("x", {"batch", "len", 8});
    Tensor gate = linear(s / "gate", x, 24, {.bias = false});
    Tensor up = linear(s / "up", x, 24, {.bias = false});
    Tensor y = linear(s / "down", open(gate) * up, 8, {.bias = false});
    s.output("loss", sum(sum(y * y, -1), -1));
    return graph;
}

/// Kernels over all elements of a shape, by form.
int kernels_over(const CompiledProgram& program, Form form, const Dim& columns) {
    return int(std::ranges::count_if(program.fused.groups, [&](const Group& group) {
        return group.form == form && group.domain.rank() == 3 && group.domain[-1] == columns;
    }));
}
int stored(const CompiledProgram& program, const Dim& columns) {
    int found = 0;
    for (const Group& group : program.fused.groups)
        for (int id : group.stored) {
            const Shape& shape = program.optimized[id].shape;
            found += shape.rank() == 3 && !shape[0].is_static() && shape[-1] == columns;
        }
    return found;
}
bool is_refused(const CompiledProgram& program, const char* reason) {
    return std::ranges::any_of(program.fused.refusals, [&](const Refusal& refusal) {
        return refusal.reason.find(reason) != std::string::npos;
    });
}

Tensor open_silu(Tensor x) { return silu(x); }
Tensor open_gelu(Tensor x) { return gelu(x); }
Tensor open_gelu_tanh(Tensor x) { return gelu_tanh(x); }
Tensor open_relu(Tensor x) { return relu(x); }

}  // namespace

TEST_CASE("a gated product is one kernel, and stores nothing else") {
    for (auto* open : {open_silu, open_gelu, open_gelu_tanh, open_relu}) {
        const CompiledProgram program = compiled_gates(gated_model(open));
        CHECK(kernels_over(program, Form::contract, 24) == 1);
        CHECK(kernels_over(program, Form::rows, 24) == 0);
        CHECK(stored(program, 24) == 1);
    }
}

TEST_CASE("training stores the sums of both products, and makes the gate again") {
    for (auto* open : {open_silu, open_gelu, open_gelu_tanh, open_relu}) {
        CAPTURE(open == open_gelu_tanh);
        CAPTURE(open == open_relu);
        const CompiledProgram program = compiled_gates(gated_model(open), Gradients::of_parameters);
        CHECK(kernels_over(program, Form::contract, 24) == 2);  // and the product of the gradient
        CHECK(kernels_over(program, Form::rows, 24) == 0);
        // Gate, up and their product, two gradients, and the product again.
        CHECK(stored(program, 24) == 6);
    }
}

TEST_CASE("training stores a product with its bias and what it becomes, and makes the rest again") {
    for (auto* open : {open_silu, open_gelu, open_gelu_tanh, open_relu}) {
        CAPTURE(open == open_gelu_tanh);
        CAPTURE(open == open_relu);
        Graph graph;
        Scope s{&graph};
        Tensor x = s.input("x", {"batch", "len", 8});
        Tensor inner = open(linear(s / "up", x, 24));
        Tensor y = linear(s / "down", inner, 8);
        s.output("loss", sum(sum(y * y, -1), -1));
        const CompiledProgram program = compiled_gates(graph, Gradients::of_parameters);
        CHECK(kernels_over(program, Form::contract, 24) == 2);
        // Both, the gradient, and again what it becomes; relu is known by what it gives.
        CHECK(stored(program, 24) == (open == open_relu ? 2 : 4));
    }
}

TEST_CASE("why products are not one kernel") {
    const auto product = [](Tensor (*second)(Scope, Tensor)) {
        Graph graph;
        Scope s{&graph};
        Tensor x = s.input("x", {"rows", 8});
        s.output("y", silu(linear(s / "gate", x, 24, {.bias = false})) * second(s, x));
        return compiled_gates(graph);
    };
    const CompiledProgram other =
        product([](Scope s, Tensor x) { return linear(s / "up", tanh(x), 24, {.bias = false}); });
    CHECK(is_refused(other, "the epilogue of another contraction, of another factor"));
    const CompiledProgram given =
        product([](Scope s, Tensor x) { return linear(x, s.input("w", {24, 8})); });
    CHECK(is_refused(given, "their weights are not two parameters of one shape"));
    const CompiledProgram third = product([](Scope s, Tensor x) {
        Tensor up = linear(s / "up", x, 24, {.bias = false});
        return up * linear(s / "third", x, 24, {.bias = false});
    });
    CHECK(is_refused(third, "and of a second one"));
}

TEST_CASE("rotary positions are one kernel, whichever features are paired, forward and backward") {
    for (const RotaryPairs pairs : {RotaryPairs::halves, RotaryPairs::neighbours})
        for (const bool is_partial : {false, true}) {
            CAPTURE(int(pairs));
            CAPTURE(is_partial);
            Graph graph;
            Scope s{&graph};
            Tensor x = s.input("x", {"batch", "len", 8});
            Tensor y = rearrange(linear(s / "q", x, 16), "b t (h d) -> b h t d", {"h", 2});
            Tensor turned = rotary(y, {.pairs = pairs, .width = is_partial ? 4 : 0});
            s.output("y", rearrange(turned, "b h t d -> b t (h d)"));
            // The product and the turn; a copy of what is not turned, and of neighbours beside it.
            const int copies = is_partial + (is_partial && pairs == RotaryPairs::neighbours);
            CHECK(compiled_gates(graph).plan.steps.size() == std::size_t(2 + copies));
            // And the turn back, the gradients of the product's weight and bias, its sums in two.
            const auto steps = compiled_gates(graph, Gradients::of_parameters).plan.steps.size();
            CHECK(steps == std::size_t(6 + 2 * copies));
        }
}
