// Tables that scores look up by several indices become tables by head and one number.
#include "codegen/group/order_look_ups.h"

#include <fovea.h>

#include "codegen/group/fuse_attention.h"
#include "codegen/optimize/hoist_tables.h"
#include "tests/group/score_passes.h"

using namespace fovea;
using namespace fovea::test;

namespace {

/// The fused graph of attention whose score adds `bias(table, pair)`, checked against plain ops.
template <class Bias>
Graph fused_by_table(const Extents& shape, Bias&& bias) {
    Graph graph;
    Tensor q = input(graph, "q", {2, 3, 4, 5}), table = input(graph, "table", shape);
    auto score = [&](Pair p) { return dot_product(p) + bias(table, p); };
    output("y", attention(q, q, q, score));
    const Arrays arrays{{"q", random_array({2, 3, 4, 5}, 1)}, {"table", random_array(shape, 2)}};
    Notes notes;
    const auto fuse_all = [](int, const ScoreFunction&) { return std::optional<std::string>(); };
    Graph result = fuse_attention(hoist_tables(graph), simplify, differentiate, fuse_all, notes);
    CHECK(notes.empty());
    REQUIRE(count(result, Op::fused_attention) == 1);
    check_close(run(result, arrays), run(graph, arrays));
    check_gradients(result, arrays);
    return result;
}

const ScoreFunction& score_of(const Graph& graph) {
    for (const Node& node : graph.nodes)
        if (node.op == Op::fused_attention)
            return *graph.attentions[std::size_t(node.attribute)].function;
    throw InternalError("no attention");
}

/// The shapes of the tables that a score captures.
std::vector<Shape> tables_of(const Graph& graph) {
    std::vector<Shape> shapes;
    for (const Node& node : score_of(graph).forward.nodes)
        if (node.op == Op::input && node.port.role == Role::capture) shapes.push_back(node.shape);
    return shapes;
}

}  // namespace

TEST_CASE("the head is the first axis of a table, all other indices are one number") {
    const Graph by_head = fused_by_table({3, 5}, [](Tensor table, Pair p) {
        return at(table, {p.head, clamp(p.j - p.i, -2, 2) + 2});
    });
    CHECK(tables_of(by_head) == std::vector<Shape>{{3, 5}});
    const Graph turned = fused_by_table({5, 3}, [](Tensor table, Pair p) {
        return at(table, {clamp(p.j - p.i, -2, 2) + 2, p.head});
    });
    CHECK(tables_of(turned) == std::vector<Shape>{{3, 5}});
    const Graph three = fused_by_table(
        {4, 3, 2}, [](Tensor table, Pair p) { return at(table, {p.i, p.head, p.j % 2}); });
    CHECK(tables_of(three) == std::vector<Shape>{{3, 8}});
    const Graph without =
        fused_by_table({4, 2}, [](Tensor table, Pair p) { return at(table, {p.i, p.j % 2}); });
    CHECK(tables_of(without) == std::vector<Shape>{{8}});
}

TEST_CASE("a table that is looked up twice is captured once, and its gradients are added") {
    const Graph twice = fused_by_table({5, 3}, [](Tensor table, Pair p) {
        Tensor far = clamp(p.j - p.i, -2, 2) + 2;
        return at(table, {far, p.head}) * at(table, {p.j % 5, p.head}) + at(table, {far, p.head});
    });
    CHECK(tables_of(twice).size() == 1);
    const Graph rows = fused_by_table({3, 5}, [](Tensor table, Pair p) {
        return at(table, {p.head, p.j % 5}) + dot(gather(table, p.head), p.q);
    });
    CHECK(tables_of(rows).size() >= 1);
}

TEST_CASE("a table that is made in the score is made outside") {
    const Graph made = fused_by_table({5, 3}, [](Tensor table, Pair p) {
        Tensor squares = rearrange(table * table, "n h -> h n");
        return at(squares, {p.head, clamp(p.j - p.i, -2, 2) + 2});
    });
    CHECK(tables_of(made) == std::vector<Shape>{{3, 5}});
    for (const Node& node : score_of(made).forward.nodes)
        CHECK((node.op == Op::input || node.shape.rank() < 2));
}
