// What must be fused is fused; what is not says why.
#include <doctest/doctest.h>

#include <algorithm>

#include "codegen/pipeline.h"
#include "dsl/fovea.h"

using namespace fovea;
using namespace fovea::fuse;

namespace {

CompiledProgram compiled(const Graph& graph, Gradients gradients = Gradients::none,
                         bool fusion = true) {
    return compile_model("m", "m.cpp", {},
                         {{.name = "p",
                           .graph = graph,
                           .gradients = gradients,
                           .fusion = {fusion, AttentionForm::fused}}})
        .programs[0];
}

int count(const CompiledProgram& program, Form form) {
    return int(std::count_if(program.fused.groups.begin(), program.fused.groups.end(),
                             [&](const Group& group) { return group.form == form; }));
}

}  // namespace

TEST_CASE("a kernel is named after the module whose parameters it reads") {
    Graph graph;
    Scope s{&graph};
    Tensor x = s.input("x", {"batch", 8});
    Tensor weight = (s / "model" / "norm").parameter("weight", {8}, Initial::ones);
    s.output("y", x * rsqrt(mean(x * x, -1, true) + 1e-6) * weight);
    CompiledProgram program = compiled(graph);
    REQUIRE(program.fused.groups.size() == 1);
    CHECK(program.fused.groups[0].name == "model_norm_mul");
}

TEST_CASE("bias and relu are the epilogue of a contraction") {
    Graph graph;
    Scope s{&graph};
    s.output("y", relu(linear(s / "dense", s.input("x", {"batch", 8}), 16)));
    CompiledProgram program = compiled(graph);
    CHECK(program.fused.groups.size() == 1);
    CHECK(count(program, Form::contract) == 1);
    CHECK(program.fused.refusals.empty());
}

TEST_CASE("residual, dropout and layer norm are one row kernel") {
    Graph graph;
    Scope s{&graph};
    Tensor x = s.input("x", {"batch", "len", 8}), y = s.input("y", {"batch", "len", 8});
    s.output("z", layer_norm(s / "ln", x + dropout(y, 0.1)));
    CHECK(compiled(graph).fused.groups.size() == 1);
}

TEST_CASE("a sum that forward and backward read is made again for the backward pass") {
    for (const bool read_backward : {false, true}) {
        Graph graph;
        Scope s{&graph};
        const Tensor x = s.input("x", {"rows", 8}), sum = x + s.input("b", {8});
        s.output("y", tanh(sum));
        const Tensor product = sum * s.input("g", {"rows", 8});
        graph.nodes[std::size_t(product.id)].backward = read_backward;
        s.output("dg", product);
        CHECK(inlined_nodes(graph, true)[std::size_t(sum.id)] == read_backward);
        CHECK(!inlined_nodes(graph, false)[std::size_t(sum.id)]);
    }
}

TEST_CASE("a masked softmax is one row kernel, its mask never stored") {
    Graph graph;
    Scope s{&graph};
    Tensor scores = s.input("scores", {"batch", 4, "queries", "keys"});
    Tensor lens = s.input("lens", {"batch"}, i32);
    s.output("weights", masked_softmax(scores, causal & padding(lens)));
    CompiledProgram program = compiled(graph);
    CHECK(program.fused.groups.size() == 1);
    CHECK(program.fused.groups[0].reduces);
}

/// A dense layer, its loss, and the gradients of its parameters.
static CompiledProgram classifier() {
    Graph graph;
    Scope s{&graph};
    Tensor x = s.input("x", {"batch", "steps", 8}),
           labels = s.input("labels", {"batch", "steps"}, i32);
    Tensor lens = s.input("lens", {"batch"}, i32);
    s.output("loss", cross_entropy(linear(s / "dense", x, 20), labels, lens));
    return compile_model("m", "m.cpp", {},
                         {{.name = "p", .graph = graph, .gradients = Gradients::of_parameters}})
        .programs[0];
}

TEST_CASE("cross entropy's logits give loss and gradient without log-probabilities in memory") {
    const CompiledProgram program = classifier();
    for (const plan::Tensor& tensor : program.plan.tensors)
        if (tensor.role == plan::Role::buffer && tensor.shape.size() == 3)
            CHECK_MESSAGE((tensor.name.find("dense") != tensor.name.npos), tensor.name);
}

TEST_CASE("a loss, its gradient and that of the bias are one kernel that reads the logits") {
    const CompiledProgram program = classifier();
    int with_sums = 0;
    for (const Group& group : program.fused.groups) {
        if (group.sums.empty()) continue;
        ++with_sums;
        CHECK(group.reduces);
        CHECK(group.stored.size() == 3);  // a term of the loss by row, both gradients
    }
    CHECK(with_sums == 1);
}

TEST_CASE("the gradients of a norm are one kernel, and nothing is stored for them but its rows") {
    Graph graph;
    Scope s{&graph};
    Tensor x = s.input("x", {"batch", "steps", 8});
    s.output("y", layer_norm(x + s.input("residual", {"batch", "steps", 8}), s.input("weight", {8}),
                             s.input("bias", {8})));
    CompiledProgram program = compiled(graph, Gradients::of_parameters_and_inputs);
    CHECK(count(program, Form::columns) == 0);
    int with_sums = 0;
    for (const Group& group : program.fused.groups) with_sums += group.sums.size() == 2;
    CHECK(with_sums == 1);
    int whole = 0;  // x + residual; the deviation and the sum are one number a row
    for (const plan::Tensor& tensor : program.plan.tensors)
        whole += tensor.role == plan::Role::buffer && tensor.shape.size() == 3 &&
                 tensor.shape[2] == Dim(8);
    CHECK(whole == 1);
}

TEST_CASE("weights laid [in, out], and products that outputs permute, have no copy") {
    Graph graph;
    Scope s{&graph};
    Tensor x = s.input("x", {"batch", "len", 24});
    s.output("y", linear(s / "dense", x, 40, {.in_out = true}));
    s.output("z", permute(linear(s / "turned", x, 40, {.bias = false}), {0, 2, 1}));
    CHECK(count(compiled(graph), Form::copy) == 0);
    CHECK(count(compiled(graph, Gradients::of_parameters_and_inputs), Form::copy) == 0);
}

TEST_CASE("heads are split and merged without a copy") {
    Graph graph;
    Scope s{&graph};
    Tensor x = s.input("x", {"batch", "len", 12});
    auto heads = [&](const char* name) {
        return rearrange(linear(s / name, x, 12, {.bias = false}), "b t (h d) -> b h t d",
                         {"h", 3});
    };
    Tensor seen = attention(heads("W_q"), heads("W_k"), heads("W_v"), dot_product);
    s.output("y", linear(s / "W_o", rearrange(seen, "b h t d -> b t (h d)"), 12));
    CHECK(count(compiled(graph), Form::copy) == 0);
    CHECK(count(compiled(graph, Gradients::of_parameters_and_inputs), Form::copy) == 0);
}

TEST_CASE("with fusion off every op is by itself, and says so nowhere") {
    Graph graph;
    Scope s{&graph};
    s.output("y", relu(linear(s / "dense", s.input("x", {"batch", 8}), 16)));
    CompiledProgram program = compiled(graph, Gradients::none, false);
    CHECK(program.fused.groups.size() == 3);
    CHECK(program.fused.refusals.empty());
}

TEST_CASE("a refusal names the reason") {
    Graph graph;
    Scope s{&graph};
    Tensor x = s.input("x", {"batch", 8});
    s.output("y", softmax(linear(s / "dense", x, 16)));
    CompiledProgram program = compiled(graph);
    REQUIRE(program.fused.groups.size() == 2);
    bool found = std::any_of(program.fused.refusals.begin(), program.fused.refusals.end(),
                             [](const Refusal& refusal) {
                                 return refusal.reason == "it is the epilogue of a contraction";
                             });
    CHECK(found);
}

TEST_CASE("what depends on dims and parameters alone is prepared") {
    Graph graph;
    Scope s{&graph};
    Tensor x = s.input("x", {"batch", "len", 8});
    s.output("y", x + sinusoids(x));
    CompiledProgram program = compiled(graph);
    CHECK_FALSE(program.plan.prepare.empty());
    CHECK(program.plan.steps.size() == 1);
}

TEST_CASE("what is prepared once reads nothing that each run writes") {
    Graph graph;
    Scope s{&graph};
    Tensor w = s.parameter("w", {8});
    Tensor largest = amax(w, -1, true);
    s.output("largest", largest);
    s.output("y", gelu(largest));
    for (bool fusion : {false, true}) {
        const plan::Program plan = compiled(graph, Gradients::none, fusion).plan;
        for (const plan::Step& step : plan.prepare)
            for (int argument : step.arguments)
                CHECK(plan.tensors[std::size_t(argument)].role != plan::Role::output);
    }
}

TEST_CASE("a table that is computed is in memory before its rows are looked up") {
    Graph graph;
    Scope s{&graph};
    Tensor table = exp(s.input("x", {8, "len"}));
    s.output("y", gather(table, s.input("ids", {8}, i32)));
    CHECK(compiled(graph).fused.groups.size() == 2);
}

TEST_CASE("a sum over rows is no part of the kernel that reads it") {
    Graph graph;
    Scope s{&graph};
    Tensor x = s.input("x", {5, "len"});
    Tensor total = sum(x, 0, true);
    s.output("y", where(x < total, x * 0.5, total));
    CHECK(compiled(graph).fused.groups.size() == 2);
}
