// The passes as a whole: what a model compiles to, how long that takes, what is refused.
#include <doctest/doctest.h>

#include <algorithm>
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
        if (tensor.name != "src" && tensor.name != "labels" && tensor.name != "src_lens") continue;
        REQUIRE(tensor.checks.size() == 1);
        const bool lengths = tensor.name == "src_lens";
        CHECK(tensor.checks[0].holds == (lengths ? plan::Holds::lengths : plan::Holds::ids));
        if (lengths) CHECK(tensor.checks[0].limit == Dim("src_len"));
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
        REQUIRE(tensor.checks.size() == 1);
        CHECK(tensor.checks[0].holds == plan::Holds::ids);
        CHECK(tensor.checks[0].limit == Dim(tensor.name == "tokens" ? 6 : 10));
    }
    CHECK(inputs == 2);
}

namespace {

/// Of a model with one input `ids` [batch, 8] and `make(s, ids)` for ids of a table of 10 rows.
template <class Make>
std::vector<plan::Tensor> tensors_with_checks(const Make& make) {
    Graph graph;
    Scope s{&graph};
    const Tensor ids = s.input("ids", {"batch", 8}, i32);
    s.output("y", gather(s.parameter("table", {10, 4}), make(s, ids)));
    std::vector<plan::Tensor> found;
    const CompiledModel model = compile_model(
        "ids", "", {}, {{.name = "forward", .graph = graph, .gradients = Gradients::none}});
    for (const plan::Tensor& tensor : model.plan.programs[0].tensors)
        if (!tensor.checks.empty()) found.push_back(tensor);
    return found;
}

}  // namespace

TEST_CASE("ids of two tables are checked against both; parts of an input each against its own") {
    const auto two = tensors_with_checks([](Scope s, Tensor ids) {
        s.output("z", gather(s.parameter("a", {"vocab", 4}), ids));
        s.output("w", gather(s.parameter("b", {"words", 4}), ids));
        s.output("v", gather(s.parameter("c", {12, 4}), ids));  // follows from the table of 10
        return ids;
    });
    REQUIRE(two.size() == 1);
    CHECK(two[0].checks.size() == 3);
    const auto parts = tensors_with_checks([](Scope s, Tensor ids) {
        s.output("z", gather(s.parameter("a", {2, 4}), slice(ids, 1, 6, 2)));
        return slice(ids, 1, 0, 4);
    });
    REQUIRE(parts.size() == 1);
    REQUIRE(parts[0].checks.size() == 2);
    CHECK(parts[0].checks[0].limit == Dim(2));
    CHECK(parts[0].checks[0].parts[1].first == Dim(6));
    CHECK(parts[0].checks[1].limit == Dim(10));
    CHECK(parts[0].checks[1].parts[1].count == Dim(4));
}

TEST_CASE("ids that are in range by their computation cost nothing, others are stored") {
    const auto buffers = [](auto make) {
        const auto tensors = tensors_with_checks(make);
        return std::count_if(tensors.begin(), tensors.end(), [](const plan::Tensor& tensor) {
            return tensor.role == plan::Role::buffer || tensor.role == plan::Role::prepared;
        });
    };
    const auto positions = [](Tensor ids) { return iota(*ids.graph, {8}, 0); };
    const auto count = [](Tensor ids) {
        return cast(sum(cast(logical_not(eq(ids, 1)), f32), 1), i32);
    };
    CHECK(buffers([&](Scope, Tensor ids) { return positions(ids); }) == 0);
    CHECK(buffers([&](Scope, Tensor ids) { return positions(ids) + 1; }) == 0);
    CHECK(buffers([&](Scope, Tensor ids) { return positions(ids) * 2 / 2; }) == 0);
    CHECK(buffers([&](Scope, Tensor ids) { return cast(ids > 3, i32); }) == 0);
    CHECK(buffers([&](Scope, Tensor ids) { return where(ids > 3, positions(ids), 9); }) == 0);
    CHECK(buffers([&](Scope, Tensor ids) { return maximum(minimum(ids, 9), 0); }) == 0);
    CHECK(buffers([&](Scope, Tensor ids) { return count(ids); }) == 0);
    CHECK(buffers([&](Scope, Tensor ids) { return positions(ids) + 3; }) == 1);
    CHECK(buffers([&](Scope, Tensor ids) { return positions(ids) - 1; }) == 1);
    CHECK(buffers([&](Scope, Tensor ids) { return minimum(ids, 9); }) == 1);
    CHECK(buffers([&](Scope, Tensor ids) { return count(ids) + 2; }) == 1);
    CHECK(buffers([&](Scope, Tensor ids) { return iota(*ids.graph, {ids.dim(0)}, 0); }) == 1);
}

TEST_CASE("no model of ids that are inputs stores any") {
    for (const plan::Tensor& tensor : compiled(1).plan.programs[0].tensors)
        CHECK((tensor.checks.empty() || tensor.role == plan::Role::input));
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

TEST_CASE("a model knows the other names of its parameters") {
    Graph graph;
    Scope s{&graph};
    const Tensor weight = s.parameter("weight", {4, 8});
    (s / "head").tie("weight", weight);
    s.output("y", einsum("n d, e d -> n e", s.input("x", {"batch", 8}), weight));
    const CompiledModel model =
        compile_model("tied", "", {}, {{.name = "forward", .graph = graph}});
    REQUIRE(model.plan.aliases.size() == 1);
    CHECK(model.plan.aliases[0].name == "head.weight");
    CHECK(model.plan.aliases[0].parameter == "weight");
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
