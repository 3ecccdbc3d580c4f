// Activations between two products: what the gradient's products read of them is made again, by the
// product that reads what they are made of, and is not kept.
#include "codegen/autodiff/rematerialise.h"

#include <doctest/doctest.h>
#include <fovea.h>

#include <algorithm>
#include <functional>
#include <string>

#include "codegen/pipeline.h"

using namespace fovea;

namespace {

using Activation = std::function<Tensor(Scope, Tensor)>;

/// Two layers and what lies between them.
Graph layers(const Activation& activation) {
    Graph graph;
    const Scope s{&graph};
    Tensor x = s.input("x", {"batch", 8});
    s.output("y", linear(s / "down", activation(s, x), 8));
    return graph;
}

Tensor up(Scope s, Tensor x) { return linear(s / "up", x, 32); }

CompiledProgram with_gradient(const Graph& graph, bool fused = true) {
    return compile_model("layers", "", {},
                         {{.name = "gradient",
                           .graph = graph,
                           .gradients = Gradients::of_parameters_and_inputs,
                           .fusion = fused}})
        .programs.at(0);
}

/// Buffers that are made again; what the forward pass made is not kept for the gradient.
int made_again(const CompiledProgram& program) {
    const std::string again = ".again";
    int count = 0;
    for (const plan::Tensor& tensor : program.plan.tensors) {
        if (!tensor.name.ends_with(again)) continue;
        ++count;
        const std::string first = tensor.name.substr(0, tensor.name.size() - again.size());
        for (const plan::Tensor& other : program.plan.tensors)
            if (other.name == first) CHECK(other.last <= tensor.first);
    }
    return count;
}

}  // namespace

TEST_CASE("an activation is stored again by the product that makes the gradient before it") {
    const auto of_one = [](auto function) {
        return layers([function](Scope s, Tensor x) { return function(up(s, x)); });
    };
    const Graph graphs[] = {of_one([](Tensor u) { return gelu(u); }),
                            of_one([](Tensor u) { return gelu_tanh(u); }),
                            of_one([](Tensor u) { return silu(u); }), layers([](Scope s, Tensor x) {
                                return silu(linear(s / "gate", x, 32)) * linear(s / "up", x, 32);
                            })};
    for (const Graph& graph : graphs) {
        const CompiledProgram program = with_gradient(graph);
        CAPTURE(fuse::print(program.optimized, program.fused));
        CHECK(made_again(program) == 1);
        CHECK(made_again(with_gradient(graph, false)) == 0);
        int kernels_of_it = 0;  // a kernel of its own would read u once more
        for (const fuse::Group& group : program.fused.groups)
            kernels_of_it +=
                group.form == fuse::Form::rows && program.optimized[group.nodes[0]].recomputed;
        CHECK(kernels_of_it == 0);
    }
}

TEST_CASE("rows that a norm gives are stored again by the kernel of its gradient") {
    const CompiledProgram program =
        with_gradient(layers([](Scope s, Tensor x) { return layer_norm(s / "norm", up(s, x)); }));
    CHECK(made_again(program) == 1);
    for (const fuse::Group& group : program.fused.groups) {
        const bool stores_again = std::ranges::any_of(
            group.stored, [&](int id) { return program.optimized[id].recomputed; });
        if (stores_again) CHECK(group.sums.size() == 3);  // of the norm, and of the bias before
    }
}

TEST_CASE("values that the gradient needs anyway are kept") {
    const auto count = [](const Activation& activation) {
        return made_again(with_gradient(layers(activation)));
    };
    // The gradients of tanh and relu are those of what they give; an addition's needs nothing.
    CHECK(count([](Scope s, Tensor x) { return tanh(up(s, x)); }) == 0);
    CHECK(count([](Scope s, Tensor x) { return relu(up(s, x)); }) == 0);
    CHECK(count([](Scope s, Tensor x) { return up(s, x) + linear(s / "other", x, 32); }) == 0);
}

TEST_CASE("what a gradient looks rows up by is not stored by that kernel") {
    Graph graph;
    const Scope s{&graph};
    Tensor x = s.input("x", {8}), ids = s.input("ids", {8}, i32), w = s.parameter("w", {8});
    s.output("y", checkpoint([&](Tensor t) { return scatter_add(t, 0, ids, w); }, x));
    const CompiledProgram program = with_gradient(graph);
    for (const fuse::Group& group : program.fused.groups)
        for (int id : group.nodes)
            for (int other : group.nodes)
                CHECK_FALSE((program.optimized[id].op == Op::gather &&
                             program.optimized[id].inputs[1] == other));
}
