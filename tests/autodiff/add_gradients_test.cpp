// The walk: what is differentiated, by what, and how its results are named.
#include "codegen/autodiff/add_gradients.h"

#include <fovea.h>

#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

namespace {

int outputs_named(const Graph& graph, std::string_view name) {
    int count = 0;
    for (const Node& node : graph.nodes) count += node.op == Op::output && node.name == name;
    return count;
}

}  // namespace

TEST_CASE("gradients of parameters are named by their paths, zeros where nothing depends on one") {
    Graph graph;
    Scope s{&graph};
    Tensor x = s.input("x", {"batch", 3});
    Tensor y = linear(s / "dense", x, 2);
    (s / "unused").parameter("weight", {4});
    s.output("loss", sum(y, 1));
    Graph with = add_gradients(graph);
    verify_graph(with);
    CHECK(outputs_named(with, "dense.weight.grad") == 1);
    CHECK(outputs_named(with, "x.grad") == 0);
    Arrays arrays{{"x", {{2, 3}, {1, 2, 3, 4, 5, 6}}},
                  {"dense.weight", random_array({2, 3}, 1)},
                  {"dense.bias", filled({2}, 0)}};
    check_close(run(with, arrays, "dense.weight.grad"), {{2, 3}, {5, 7, 9, 5, 7, 9}});
    check_close(run(with, arrays, "dense.bias.grad"), filled({2}, 2));
    check_close(run(with, arrays, "unused.weight.grad"), filled({4}, 0));
}

TEST_CASE("cotangents are inputs named after the outputs; their gradients add up") {
    Graph graph;
    Tensor x = input(graph, "x", {2});
    output("y", x * x);
    output("z", x * 3.0);
    output("kept", x > 0.0);
    Graph with = add_gradients(graph, {.from_loss = false, .of_inputs = true});
    Arrays arrays{{"x", {{2}, {1, 2}}}, {"y.grad", {{2}, {1, 10}}}, {"z.grad", {{2}, {0, 100}}}};
    check_close(run(with, arrays, "x.grad"), {{2}, {2, 340}});
    for (const Node& node : with.nodes) CHECK(node.name != "kept.grad");
}

TEST_CASE("a value that is used often gets the sum of its gradients") {
    Graph graph;
    Tensor x = input(graph, "x", {2, 3});
    Tensor y = x;
    for (int i = 0; i < 4; ++i) y = y * x + y;
    output("y", y + sum(y, 1, true));
    check_gradients(graph, {{"x", random_array({2, 3}, 2)}});
}

TEST_CASE("new nodes say that they are the gradient's, and where they come from") {
    Graph graph;
    Scope s{&graph};
    Tensor y = layer_norm(s / "ln", s.input("x", {4, 3}));
    s.output("loss", sum(y, 1));
    std::size_t before = graph.nodes.size();
    Graph with = add_gradients(graph);
    for (std::size_t id = 1; id < with.nodes.size(); ++id)
        CHECK(with.nodes[id].backward == (id >= before));
    bool found = false;
    for (const Node& node : with.nodes)
        found = found || (node.backward && node.composite == Op::layer_norm &&
                          with.path(node.scope) == "ln");
    CHECK(found);
}

TEST_CASE("without a loss there is nothing to differentiate") {
    Graph graph;
    output("y", input(graph, "x", {2}));
    CHECK_THROWS_AS(add_gradients(graph), UserError);
}

TEST_CASE("parameters inside of a score region") {
    Graph graph;
    Scope s{&graph};
    Tensor q = s.input("q", {2, 3, 4}), k = s.input("k", {2, 5, 4}),
           lens = s.input("lens", {2}, i32);
    auto additive = [&](Pair p) {
        return sum(linear(s / "w_v", tanh(p.q + p.k), 1, {.bias = false}), -1);
    };
    s.output("y", attention(q, k, k, additive, padding(lens)));
    check_gradients(graph, {{"q", random_array({2, 3, 4}, 3)},
                            {"k", random_array({2, 5, 4}, 4)},
                            {"w_v.weight", random_array({1, 4}, 5)},
                            {"lens", {{2}, {3, 5}}}});
}

TEST_CASE("graphs of bfloat16 are legal through every pass") {
    Graph graph;
    Scope s{&graph};
    Tensor x = s.input("x", {"batch", "len", 8}, bf16), lens = s.input("lens", {"batch"}, i32);
    Tensor y = dropout(gelu(linear(s / "dense", x, 8)), 0.5);
    y = layer_norm(s / "ln", y + sinusoids(y) + amax(y, -1, true));
    Tensor weights = masked_softmax(linear(s / "scores", y, 5), padding(lens));
    Tensor seen = attention(y, y, y, dot_product, causal & padding(lens), {.dropout = 0.1});
    Tensor labels = s.input("labels", {"batch", "len"}, i32);
    Tensor logits = linear(s / "logits", seen + sum(weights, -1, true), 7);
    s.output("loss", cross_entropy(logits, labels, lens));
    verify_graph(graph);
    Graph with = add_gradients(graph, {.of_inputs = true});
    verify_graph(with);
    with = optimized(with);
    verify_graph(optimized(add_gradients(expand_composites(graph), {.of_inputs = true})));
    for (const Node& node : with.nodes)
        if (node.op == Op::output && node.name != "loss")
            CHECK(node.dtype == (node.name == "x.grad" ? bf16 : f32));
}
