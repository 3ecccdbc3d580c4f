// With dtype bf16, what contractions multiply lies in memory as bfloat16, and nothing else does.
#include <doctest/doctest.h>

#include <algorithm>

#include "codegen/pipeline.h"
#include "dsl/fovea.h"

using namespace fovea;

namespace {

/// Two dense layers with relu between them, a residual behind them, and a loss.
Graph two_layers() {
    Graph graph;
    Scope s{&graph};
    Tensor x = s.input("x", {"batch", 8});
    Tensor hidden = relu(linear(s / "first", x, 16));
    s.output("loss", sum(linear(s / "second", hidden, 8) + x, -1));
    return graph;
}

plan::Program planned(const Graph& graph, DType dtype, Gradients gradients, bool fusion) {
    return compile_model("m", "m.cpp", {},
                         {{.name = "p",
                           .graph = graph,
                           .gradients = gradients,
                           .fusion = fusion,
                           .dtype = dtype}})
        .programs[0]
        .plan;
}

int halves(const plan::Program& program, plan::Role role) {
    return int(std::count_if(program.tensors.begin(), program.tensors.end(),
                             [&](const plan::Tensor& tensor) {
                                 return tensor.role == role && tensor.dtype == DType::bf16;
                             }));
}

}  // namespace

TEST_CASE("weights that contractions read and values between them are bfloat16") {
    const plan::Program program = planned(two_layers(), bf16, Gradients::none, true);
    CHECK(halves(program, plan::Role::prepared) == 2);
    CHECK(halves(program, plan::Role::buffer) == 1);  // relu's
    for (plan::Role role : {plan::Role::parameter, plan::Role::input, plan::Role::output})
        CHECK(halves(program, role) == 0);
}

TEST_CASE("gradients of parameters stay float32, those of activations do not") {
    for (bool fusion : {true, false}) {
        const plan::Program program = planned(two_layers(), bf16, Gradients::of_parameters, fusion);
        CHECK(halves(program, plan::Role::output) == 0);
        CHECK(halves(program, plan::Role::parameter) == 0);
        CHECK(halves(program, plan::Role::buffer) >= 2);  // relu's and its gradient
    }
}

TEST_CASE("float32 has none") {
    const plan::Program program = planned(two_layers(), f32, Gradients::of_parameters, true);
    CHECK(halves(program, plan::Role::prepared) + halves(program, plan::Role::buffer) == 0);
}
