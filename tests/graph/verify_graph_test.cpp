// A legal graph passes; each kind of damage is found and its node is named.
#include "codegen/graph/verify_graph.h"

#include <doctest/doctest.h>
#include <fovea.h>

#include <functional>

#include "codegen/graph/expand_composites.h"
#include "models/transformer.h"

using namespace fovea;

namespace {

Graph small_model() {
    Graph graph;
    models::TransformerSettings settings;
    settings.layers = 1;
    settings.dropout = 0.5;
    models::transformer(Scope{&graph}, settings);
    return graph;
}

/// The first node of an op in a graph.
int first(const Graph& graph, Op op) {
    for (int id = 1; id < int(graph.nodes.size()); ++id)
        if (graph[id].op == op) return id;
    FAIL("no such node");
    return 0;
}

void check_found(Op op, const std::function<void(Graph&, Node&)>& damage) {
    Graph graph = small_model();
    int id = first(graph, op);
    damage(graph, graph[id]);
    std::string text;
    try {
        verify_graph(graph);
    } catch (const InternalError& error) {
        text = error.what();
    }
    INFO("damage of ", row_of(op).name, ": '", text, "'");
    CHECK(text.find("verify_graph: %") == 0);
}

}  // namespace

TEST_CASE("models and their bodies are legal") {
    Graph graph = small_model();
    verify_graph(graph);
    verify_graph(expand_composites(graph));
}

TEST_CASE("damage is found") {
    check_found(Op::einsum, [](Graph&, Node& n) { n.shape[0] = 7; });
    check_found(Op::einsum, [](Graph&, Node& n) { n.attribute = 1000; });
    check_found(Op::einsum, [](Graph&, Node& n) { n.inputs[1] = -1; });
    check_found(Op::einsum,
                [](Graph& g, Node& n) { g.einsums[std::size_t(n.attribute)].out.label[0] = 50; });
    check_found(Op::rearrange,
                [](Graph& g, Node& n) { g.rearranges[std::size_t(n.attribute)].order[1] = 0; });
    check_found(Op::rearrange,
                [](Graph& g, Node& n) { g.rearranges[std::size_t(n.attribute)].axis[0] = 5; });
    check_found(Op::elementwise, [](Graph&, Node& n) { n.dtype = i32; });
    check_found(Op::elementwise, [](Graph& g, Node& n) { n.inputs[0] = int(g.nodes.size()) - 1; });
    check_found(Op::elementwise, [](Graph&, Node& n) { n.inputs[0] = 0; });
    check_found(Op::elementwise, [](Graph&, Node& n) { n.inputs[4] = 1; });
    check_found(Op::elementwise, [](Graph&, Node& n) { n.scope = 100000; });
    check_found(Op::gather, [](Graph&, Node& n) { std::swap(n.inputs[0], n.inputs[1]); });
    check_found(Op::layer_norm, [](Graph&, Node& n) { n.inputs[1] = n.inputs[0]; });
    check_found(Op::dropout, [](Graph&, Node& n) { n.site = 99; });
    check_found(Op::dropout, [](Graph&, Node& n) { n.op = Op::poison; });
    check_found(Op::pair, [](Graph&, Node& n) { n.region = 0; });
    check_found(Op::attention, [](Graph& g, Node& n) {
        g.attentions[std::size_t(n.attribute)].has_allowed = true;
    });
    check_found(Op::attention,
                [](Graph& g, Node& n) { g.attentions[std::size_t(n.attribute)].score = 1; });
    check_found(Op::attention,
                [](Graph& g, Node& n) { g.attentions[std::size_t(n.attribute)].region = 0; });
    check_found(Op::output, [](Graph& g, Node& n) { n.inputs[0] = first(g, Op::pair); });
}
