// The passes as a whole: what a model compiles to, how long that takes, what is refused.
#include <doctest/doctest.h>

#include <set>

#include <fovea.h>

#include "codegen/base/error.h"
#include "codegen/pipeline.h"
#include "models/transformer.h"

using namespace fovea;

namespace {

Graph transformer_graph(int layers) {
    Graph graph;
    models::transformer(Scope{&graph},
                        {.hidden = {"hidden", 32}, .ffn = {"ffn", 64}, .layers = layers});
    return graph;
}

CompiledModel compiled(int layers) {
    return compile_model("transformer", "transformer.h", {},
                         {{.name = "gradient",
                           .graph = transformer_graph(layers),
                           .gradients = Gradients::of_parameters}});
}

}  // namespace

TEST_CASE("layers of a stack share their kernels") {
    std::size_t two = compiled(2).plan.kernels.size(), six = compiled(6).plan.kernels.size();
    CHECK(six <= two + 12);
}

TEST_CASE("every parameter has a gradient, and every kernel a name of its own") {
    CompiledModel model = compiled(1);
    std::set<std::string> outputs, kernels;
    for (const plan::Tensor& tensor : model.plan.programs[0].tensors)
        if (tensor.role == plan::Role::output) outputs.insert(tensor.name);
    for (const plan::Tensor& parameter : model.plan.parameters)
        CHECK_MESSAGE(outputs.count(parameter.name + ".grad"), parameter.name);
    for (const kernel::Kernel& kernel : model.plan.kernels)
        CHECK_MESSAGE(kernels.insert(kernel.name).second, kernel.name);
}

TEST_CASE("inputs say what they hold") {
    CompiledModel model = compiled(1);
    for (const plan::Tensor& tensor : model.plan.programs[0].tensors) {
        if (tensor.name == "src" || tensor.name == "labels")
            CHECK(tensor.holds == plan::Holds::ids);
        if (tensor.name == "src_lens") {
            CHECK(tensor.holds == plan::Holds::lengths);
            CHECK(tensor.limit == Dim("src_len"));
        }
    }
}

TEST_CASE("ids that are moved to a table say so of their input") {
    Graph graph;
    Scope s{&graph};
    const Tensor tokens = s.input("tokens", {"batch", 8}, i32);
    const Tensor begin = s.input("begin", {"batch", 1}, i32);
    const Tensor shifted = concat(begin, slice(tokens, 1, 0, 7), 1);
    s.output("y", embedding(s / "emb", shifted, {"vocab", 10}, {"hidden", 16}));
    s.output("z", embedding(s / "small", tokens, {"few", 6}, {"hidden", 16}));
    const CompiledModel model = compile_model(
        "shifted", "", {}, {{.name = "forward", .graph = graph, .gradients = Gradients::none}});
    int inputs = 0;
    for (const plan::Tensor& tensor : model.plan.programs[0].tensors) {
        if (tensor.role != plan::Role::input) continue;
        ++inputs;
        CAPTURE(tensor.name);
        CHECK(tensor.holds == plan::Holds::ids);
        CHECK(tensor.limit == Dim(tensor.name == "tokens" ? 6 : 10));
    }
    CHECK(inputs == 2);
}

TEST_CASE("programs of a model have its parameters") {
    Graph other;
    Scope s{&other};
    s.output("y", linear(s / "dense", s.input("x", {"batch", 8}), 4));
    CHECK_THROWS_WITH_AS(
        compile_model("m", "m.cpp", {},
                      {{.name = "forward", .graph = transformer_graph(1)},
                       {.name = "extra", .graph = other}}),
        "program extra: its parameter dense.weight is none of the model's, or has another shape",
        UserError);
}

TEST_CASE("an output says which inputs it needs; with gradients it needs all") {
    CompiledModel model =
        compile_model("m", "m.h", {}, {{.name = "p", .graph = transformer_graph(1)}});
    const plan::Program& program = model.plan.programs[0];  // logits, loss
    REQUIRE(program.needs.size() == 2);
    CHECK(program.needs[0] == std::vector<int>{0, 1, 2});  // src, src_lens, tgt
    CHECK(program.needs[1].size() == 5);
    CHECK(compiled(1).plan.programs[0].needs.empty());
}

TEST_CASE("only the outputs asked for are computed") {
    CompiledModel all =
        compile_model("m", "m.h", {}, {{.name = "p", .graph = transformer_graph(1)}});
    CompiledModel logits = compile_model(
        "m", "m.h", {}, {{.name = "p", .graph = transformer_graph(1), .only = {"logits"}}});
    CHECK(logits.plan.programs[0].steps.size() < all.plan.programs[0].steps.size());
}
