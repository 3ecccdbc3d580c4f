// Passes over whole models keep values, keep the graph legal, and do what they are for.
#include <fovea.h>

#include "codegen/graph/print.h"
#include "codegen/optimize/select_mode.h"
#include "models/transformer.h"
#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

namespace {

Graph model(int layers, double dropout) {
    Graph graph;
    models::TransformerSettings settings;
    settings.src_vocab = 11;
    settings.tgt_vocab = 13;
    settings.hidden = {"hidden", 8};
    settings.ffn = {"ffn", 6};
    settings.heads = 2;
    settings.layers = layers;
    settings.dropout = dropout;
    models::transformer(Scope{&graph}, settings);
    return graph;
}

Arrays values_for(const Graph& graph) {
    Arrays arrays{{"src", {{2, 3}, {1, 2, 3, 4, 5, 10}}},
                  {"tgt", {{2, 4}, {1, 2, 3, 12, 0, 4, 5, 6}}},
                  {"labels", {{2, 4}, {2, 3, 12, 0, 4, 5, 6, 7}}},
                  {"src_lens", {{2}, {3, 2}}},
                  {"tgt_lens", {{2}, {4, 0}}}};
    for (const Node& node : graph.nodes) {
        if (node.op != Op::parameter) continue;
        Extents shape;
        for (const Dim& dim : node.shape) shape.push_back(dim.value());
        arrays[graph.path(node.scope)] = random_array(shape, unsigned(arrays.size()));
    }
    return arrays;
}

}  // namespace

TEST_CASE("evaluation has no dropout, training draws it") {
    Graph graph = model(1, 0.5);
    Graph evaluation = select_mode(graph, false), training = select_mode(graph, true);
    verify_graph(evaluation);
    verify_graph(training);
    CHECK(count(evaluation, Op::dropout) + count(training, Op::dropout) == 0);
    CHECK(count(evaluation, Op::random) == 0);
    CHECK(count(training, Op::random) == count(graph, Op::dropout));
    for (const AttentionAttributes& attention : evaluation.attentions)
        CHECK(attention.dropout == 0);
    CHECK(count(expand_composites(evaluation), Op::random) == 0);
    Arrays arrays = values_for(graph);
    InterpreterOptions options{.training = true, .seed = 3, .step = 1};
    check_close(run(training, arrays, "loss", options), run(graph, arrays, "loss", options));
    check_close(run(evaluation, arrays, "loss", options), run(graph, arrays, "loss"));
}

TEST_CASE("every pass keeps values and gradients, and a legal graph") {
    Graph graph = add_gradients(select_mode(model(1, 0.1), true));
    Arrays arrays = values_for(graph);
    InterpreterOptions options{.training = true, .seed = 3};
    Interpreter source(graph, options);
    give(source, arrays);
    auto expected = source.outputs();
    auto same = [&](const Graph& changed) {
        verify_graph(changed);
        Interpreter interpreter(changed, options);
        give(interpreter, arrays);
        for (const auto& [name, array] : expected)
            check_close(interpreter.output(name), array, 1e-11);
    };
    same(expand_composites(graph));
    same(normalize_reductions(graph));
    same(fold(graph));
    same(common_subexpressions(graph));
    same(dead_code(graph));
    same(optimized(graph));
}

TEST_CASE("passes that are done change nothing more") {
    Graph graph = optimized(add_gradients(select_mode(model(2, 0.1), true)));
    graph = optimized(graph);
    CHECK(print(dead_code(graph)) == print(graph));
    CHECK(print(common_subexpressions(graph)) == print(graph));
    CHECK(print(normalize_reductions(graph)) == print(graph));
    CHECK(print(dead_code(fold(graph))) == print(graph));
}

TEST_CASE("equal nodes become one, whatever the order of a sum; draws of different places do not") {
    Graph graph;
    Tensor x = input(graph, "x", {3}), z = input(graph, "z", {3});
    graph.sites = 2;
    output("y", (x + z) * (z + x) + (x - z) * (z - x));
    output("r",
           random(graph, {3}, 0.5, 0) + random(graph, {3}, 0.5, 1) + random(graph, {3}, 0.5, 1));
    Graph merged = dead_code(common_subexpressions(graph));
    CHECK(merged.nodes.size() == graph.nodes.size() - 2);
    CHECK(count(merged, Op::random) == 2);
}

TEST_CASE("dead code goes; inputs, parameters and outputs stay") {
    Graph graph;
    Scope s{&graph};
    Tensor x = s.input("x", {3}), unused = s.input("u", {3});
    exp(unused);
    Tensor weight = (s / "a").parameter("weight", {3});
    attention(unsqueeze(unsqueeze(x, 0), 0), unsqueeze(unsqueeze(x, 0), 0),
              unsqueeze(unsqueeze(x, 0), 0), dot_product);
    s.output("y", x * 2.0);
    Graph live = dead_code(graph);
    verify_graph(live);
    CHECK(live.nodes.size() ==
          7);  // with node 0: two inputs, a parameter, the constant, mul, output
    CHECK(count(live, Op::parameter) == 1);
    (void)weight;
}

TEST_CASE("after normalize_reductions the last axis is reduced alone") {
    Graph graph = normalize_reductions(fold(expand_composites(add_gradients(model(1, 0)))));
    Tensor x = input(graph, "x", {2, 3, 4});
    output("y", reduce(Reduction::max, x, 7));
    graph = normalize_reductions(graph);
    for (const Node& node : graph.nodes) {
        if (node.op != Op::reduce) continue;
        int last = 1 << (node.shape.rank() - 1);
        CHECK((node.axis == last || !(node.axis & last)));
    }
}
