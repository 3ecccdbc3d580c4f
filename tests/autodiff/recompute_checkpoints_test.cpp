// Checkpoints: the same gradients, of values that are made again where they are read.
#include "codegen/autodiff/recompute_checkpoints.h"

#include <fovea.h>

#include "codegen/pipeline.h"
#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

namespace {

constexpr int kLayers = 8, kWidth = 8;

Tensor block(Scope s, Tensor x) {
    Tensor hidden = tanh(linear(s / "up", x, 4 * kWidth));
    return x + linear(s / "down", dropout(hidden, 0.25), kWidth);
}

/// A stack of blocks, each in a checkpoint or none.
Graph stack_of(bool in_checkpoints) {
    Graph graph;
    const Scope s{&graph};
    Tensor x = s.input("x", {"batch", kWidth});
    for (int i = 0; i < kLayers; ++i) {
        const auto layer = [&](Tensor y) { return block(s / "block" + i, y); };
        x = in_checkpoints ? checkpoint(layer, x) : layer(x);
    }
    s.output("loss", sum(x * x, 1));
    return graph;
}

CompiledProgram compiled(const Graph& graph) {
    return compile_model("stack", "", {},
                         {{.name = "gradient",
                           .graph = graph,
                           .training = true,
                           .gradients = Gradients::of_parameters_and_inputs}})
        .programs.at(0);
}

Arrays values_of(const Graph& graph) {
    Arrays arrays;
    unsigned seed = 0;
    for (const Node& node : graph.nodes) {
        if (node.op != Op::parameter && node.op != Op::input) continue;
        Extents shape;
        for (const Dim& dim : node.shape) shape.push_back(dim.is_static() ? dim.value() : 3);
        arrays[node.op == Op::parameter ? graph.path(node.scope) : std::string(node.name)] =
            random_array(shape, ++seed);
    }
    return arrays;
}

/// The largest number of elements of [batch, …] that live in one phase, for batch 1.
std::int64_t most_elements(const plan::Program& program) {
    std::int64_t most = 0;
    for (std::size_t phase = 0; phase < program.steps.size() + 1; ++phase) {
        std::int64_t sum = 0;
        for (const plan::Tensor& tensor : program.tensors) {
            if (tensor.role != plan::Role::buffer || int(phase) < tensor.first ||
                int(phase) > tensor.last)
                continue;
            if (tensor.shape.empty() || tensor.shape[0].is_static()) continue;
            std::int64_t size = 1;
            for (std::size_t i = 1; i < tensor.shape.size(); ++i) size *= tensor.shape[i].value();
            sum += size;
        }
        most = std::max(most, sum);
    }
    return most;
}

}  // namespace

TEST_CASE("a checkpoint changes no value and no gradient, random factors included") {
    const Graph kept = stack_of(false), again = stack_of(true);
    const CompiledProgram plain = compiled(kept), checkpointed = compiled(again);
    const Arrays arrays = values_of(kept);
    for (const Node& node : plain.optimized.nodes) {
        if (node.op != Op::output) continue;
        CAPTURE(node.name);
        const InterpreterOptions options{.training = true, .seed = 5};
        check_close(run(checkpointed.optimized, arrays, node.name, options),
                    run(plain.optimized, arrays, node.name, options), 0);
    }
}

TEST_CASE("what a checkpoint made is made again right before it is read") {
    const CompiledProgram program = compiled(stack_of(true));
    int again = 0, first_backward = 0;
    for (int id = 1; id < int(program.optimized.nodes.size()); ++id) {
        const Node& node = program.optimized[id];
        if (node.backward && node.op == Op::einsum && !first_backward) first_backward = id;
        if (!node.recomputed || node.op != Op::einsum) continue;
        ++again;
        CHECK(node.composite == Op::poison);
    }
    CHECK(first_backward > 0);
    CHECK(again == kLayers);  // the product up; that down is not read
    std::vector<std::string> order;
    for (const plan::Step& step : program.plan.steps) order.push_back(step.name);
    const auto place = [&](const std::string& name) {
        return std::find(order.begin(), order.end(), name) - order.begin();
    };
    CHECK(place("block0_up_again") < std::ptrdiff_t(order.size()));
    CHECK(place("block0_up_again") > place("block1_up_again"));
}

TEST_CASE("a checkpoint keeps one layer's values instead of all") {
    const std::int64_t kept = most_elements(compiled(stack_of(false)).plan),
                       again = most_elements(compiled(stack_of(true)).plan);
    CHECK(kept >= kLayers * 4 * kWidth);
    CHECK(again < kept / 2);
}

TEST_CASE("values of a checkpoint that others read are kept") {
    Graph graph;
    const Scope s{&graph};
    const Tensor x = s.input("x", {3});
    Tensor inner;
    const Tensor y = checkpoint(
        [&](Tensor z) {
            inner = exp(z);
            return sin(inner * z);
        },
        x);
    s.output("y", y * inner);
    const std::vector<bool> inside = values_inside_checkpoints(graph);
    CHECK(!inside[std::size_t(inner.id)]);
    CHECK(!inside[std::size_t(y.id)]);
    CHECK(inside[std::size_t(y.node().inputs[0])]);
    check_gradients(graph, {{"x", random_array({3}, 1)}});
}

TEST_CASE("a checkpoint around a loop, in its step, and in another checkpoint") {
    for (const bool around : {true, false}) {
        CAPTURE(around);
        Graph graph;
        const Scope s{&graph};
        const Tensor xs = s.input("xs", {5, 2});
        const auto step = [&](Tensor x, Tensor h) {
            return checkpoint([&](Tensor z) { return tanh(exp(z * 0.5) * h); }, x);
        };
        const auto loop = [&](Tensor z) {
            return scan(z, full(graph, {2}, 0.5),
                        [&](Tensor x, Tensor h) {
                            const Tensor next = step(x, h);
                            return Step{next * x, next};
                        })
                .value;
        };
        const Tensor ys =
            around ? checkpoint([&](Tensor z) { return checkpoint(loop, z) * z; }, xs) : loop(xs);
        s.output("y", ys);
        const CompiledProgram program =
            compile_model("loop", "", {},
                          {{.name = "gradient",
                            .graph = graph,
                            .gradients = Gradients::of_parameters_and_inputs}})
                .programs.at(0);
        verify_graph(program.optimized);
        const Arrays arrays{{"xs", random_array({5, 2}, 3)}, {"y.grad", random_array({5, 2}, 4)}};
        const Graph sealed = seal_scans(graph);
        check_close(
            run(program.optimized, arrays, "xs.grad"),
            numeric_gradient(sealed, {{"xs", arrays.at("xs")}}, "xs", arrays.at("y.grad"), {}),
            1e-8);
    }
}
