// Attention weights as outputs: names, shapes, and that nothing else stays an output.
#include "codegen/group/tap_attention.h"

#include <doctest/doctest.h>
#include <fovea.h>

#include <map>

#include "codegen/graph/scan_function.h"
#include "codegen/graph/verify_graph.h"

using namespace fovea;

namespace {

Graph graph_of(void (*model)(Scope)) {
    Graph graph;
    model(Scope{&graph});
    return graph;
}

void two_attentions(Scope s) {
    Tensor x = s.input("x", {"batch", 2, "len", 8}), lens = s.input("lens", {"batch"}, i32);
    Scope block = s / "block" + 0;
    auto own = [](Pair p) { return tanh(dot(p.q, p.k)) * 2.0; };
    Tensor y = attention(x * 2.0, x, x, own, causal & padding(lens), {.dropout = 0.5});
    Tensor q = linear(block / "W_q", y, Dim("hidden", 8));
    s.output("output", attention(q, x, x, dot_product, padding(lens)));
}

}  // namespace

TEST_CASE("tap_attention: weights of every attention are the outputs") {
    const Graph graph = graph_of(two_attentions);
    CHECK(has_attention(graph));
    const Graph tapped = tap_attention(graph);
    verify_graph(tapped);
    std::map<std::string, Shape> outputs;
    for (const Node& node : tapped.nodes)
        if (node.op == Op::output) outputs[std::string(node.name)] = node.shape;
    REQUIRE(outputs.size() == 2);
    CHECK(outputs.contains("weights"));
    for (const auto& [name, shape] : outputs) CHECK(shape == Shape{"batch", 2, "len", "len"});
    CHECK_FALSE(has_attention(graph_of([](Scope s) { s.output("y", s.input("x", {3}) + 1.0); })));
}

TEST_CASE("tap_attention: a loop gives the weights of its steps") {
    const Graph graph = seal_scans(graph_of([](Scope s) {
        Tensor x = s.input("x", {"steps", "batch", 8}), keys = s.input("keys", {"batch", "len", 8});
        auto y = scan(x, s.input("start", {"batch", 8}), [&](Tensor x_t, Tensor before) {
            Tensor seen = attention(unsqueeze(x_t + before, 1), keys, keys, dot_product);
            Tensor next = squeeze(seen, 1);
            return Step{next, next};
        });
        s.output("output", y.value);
        s.output("last", y.state);
    }));
    CHECK(has_attention(graph));
    const Graph tapped = tap_attention(graph);
    verify_graph(tapped);
    int outputs = 0;
    for (const Node& node : tapped.nodes) {
        if (node.op != Op::output) continue;
        ++outputs;
        CHECK(node.name == "weights");
        CHECK(node.shape == Shape{"batch", "steps", "len"});
    }
    CHECK(outputs == 1);
}
