// Copies of graphs: everything that a node has goes along.
#include "codegen/graph/rewrite.h"

#include <doctest/doctest.h>
#include <fovea.h>

#include "codegen/graph/print.h"
#include "codegen/graph/same_node.h"
#include "codegen/graph/verify_graph.h"
#include "models/transformer.h"

using namespace fovea;

TEST_CASE("a copy prints as its source, score regions and all") {
    Graph graph;
    models::transformer(Scope{&graph}, {.layers = 2, .dropout = 0.1, .bias = true});
    Graph copy = Rewrite::run(graph, [](Rewrite&, int) { return std::optional<Tensor>(); });
    verify_graph(copy);
    CHECK(print(copy) == print(graph));
    CHECK(copy.sites == graph.sites);
    CHECK(copy.regions == graph.regions);
}

TEST_CASE("what replaces a node takes its place and its origin") {
    Graph graph;
    Scope s{&graph};
    Tensor x = s.input("x", {3});
    s.output("y", layer_norm(s / "ln", tanh(x)));
    Graph replaced = Rewrite::run(graph, [](Rewrite& rewrite, int id) -> std::optional<Tensor> {
        const Node& node = rewrite.source()[id];
        if (node.op != Op::layer_norm) return {};
        return rewrite.mapped(node.inputs[0]) * 2.0;
    });
    verify_graph(replaced);
    const Node& product = replaced[replaced.nodes.back().inputs[0]];
    CHECK(product.function == Elementwise::mul);
    CHECK(product.composite == Op::layer_norm);
    CHECK(replaced.path(product.scope) == "ln");
    CHECK(product.location.line == graph[graph.nodes.back().inputs[0]].location.line);
}

TEST_CASE("a node that is not made yet cannot be mapped") {
    Graph graph;
    Tensor x = Scope{&graph}.input("x", {3});
    exp(x);
    Rewrite rewrite(graph);
    CHECK_THROWS_AS(rewrite.mapped(2), InternalError);
}

TEST_CASE("names live on") {
    std::string name = "weight";
    std::string_view kept = intern(name);
    name[0] = 'x';
    CHECK(kept == "weight");
    CHECK(static_cast<const void*>(intern("weight")) == kept.data());
}

TEST_CASE("equal functions, whatever their labels and places") {
    Graph graph;
    Scope s{&graph};
    Tensor a = s.input("a", {2, 3}), b = s.input("b", {3, 2});
    Tensor x = einsum("i k, k j -> i j", a, b), y = einsum("p q, q r -> p r", a, b),
           z = einsum("i k, k j -> j i", a, b);
    CHECK(same_function(graph, x.id, graph, y.id));
    CHECK(hash_of_function(graph, x.id) == hash_of_function(graph, y.id));
    CHECK_FALSE(same_function(graph, x.id, graph, z.id));
    CHECK_FALSE(same_function(graph, a.id, graph, a.id));
}
