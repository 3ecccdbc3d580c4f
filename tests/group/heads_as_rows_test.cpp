// One query whose heads share keys: the heads are rows of one tile, to the same values and
// gradients; and where each head stays by itself, and why.
#include "codegen/group/heads_as_rows.h"

#include <fovea.h>

#include <functional>

#include "codegen/group/fuse_attention.h"
#include "tests/group/score_passes.h"

using namespace fovea;
using namespace fovea::test;

namespace {

struct Attending {
    Extents queries = {2, 6, 1, 5};
    std::function<Mask(Graph&)> mask = [](Graph&) { return no_mask; };
    std::function<Tensor(Graph&, Pair)> score = [](Graph&, Pair p) { return dot_product(p); };
    double dropout = 0;
};

/// Heads over 2 heads of keys; keys are 7.
Graph attend_with(const Attending& of) {
    Graph graph;
    Tensor q = input(graph, "q", of.queries), k = input(graph, "k", {2, 2, 7, 5}),
           v = input(graph, "v", {2, 2, 7, 3});
    const Mask mask = of.mask(graph);
    output("y", attention(q, k, v, [&](Pair p) { return of.score(graph, p); }, mask,
                          {.dropout = of.dropout}));
    return graph;
}

Arrays arrays_of(const Attending& of) {
    return {{"q", random_array(of.queries, 1)},
            {"k", random_array({2, 2, 7, 5}, 2)},
            {"v", random_array({2, 2, 7, 3}, 3)},
            {"lens", {{2}, {0, 4}}},
            {"lens_of_query", {{2, 1}, {5, 0}}},
            {"allowed", {{2, 1, 1, 7}, {0, 1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0}}},
            {"by_head", {{6, 1, 7}, std::vector<double>(42, 1)}},
            {"slopes", random_array({6}, 4)}};
}

Graph fused_rows(const Graph& graph) {
    const auto fuse_all = [](int, const ScoreFunction&) { return std::optional<std::string>(); };
    Notes notes;
    return fuse_attention(graph, simplify, differentiate, fuse_all, notes);
}

Mask lens_of_batch(Graph& graph) { return padding(input(graph, "lens", {2}, i32)); }

std::string why_not_rows(const Attending& of) {
    const Graph graph = attend_with(of);
    for (int id = 1; id < int(graph.nodes.size()); ++id) {
        if (graph[id].op != Op::attention) continue;
        const ExtractedScore score = extract_score(graph, id);
        return why_not_heads_as_rows(graph, id,
                                     {simplify(score.graph), simplify(differentiate(score.graph))})
            .value_or("");
    }
    return "no attention";
}

}  // namespace

TEST_CASE("heads that share keys are rows, under every mask that is the same for them") {
    const std::vector<std::function<Mask(Graph&)>> masks = {
        [](Graph&) { return no_mask; }, lens_of_batch,
        [](Graph& graph) { return lens_of_batch(graph).with(MaskedRows::zero); },
        [](Graph& graph) { return padding(input(graph, "lens_of_query", {2, 1}, i32)); },
        [](Graph& graph) { return allowed(input(graph, "allowed", {2, 1, 1, 7}, boolean)); }};
    for (std::size_t i = 0; i < masks.size(); ++i) {
        CAPTURE(i);
        const Attending one{.mask = masks[i]};
        const Graph graph = attend_with(one), result = fused_rows(graph);
        REQUIRE(count(result, Op::fused_attention) == 1);
        for (const Node& node : result.nodes)
            if (node.op == Op::fused_attention) CHECK(node.shape == Shape{2, 2, 3, 3});
        check_close(run(result, arrays_of(one)), run(graph, arrays_of(one)));
        check_gradients(result, arrays_of(one));
    }
}

TEST_CASE("where heads are not rows, and why") {
    CHECK(why_not_rows({}) == "");
    CHECK(why_not_rows({.queries = {2, 6, 2, 5}}) == "there is more than one query");
    CHECK(why_not_rows({.queries = {2, 2, 1, 5}}) == "each head has keys of its own");
    CHECK(why_not_rows({.mask = [](Graph&) { return causal; }}) ==
          "its mask reads the position of the query");
    CHECK(why_not_rows({.mask = [](Graph& graph) {
              return allowed(input(graph, "by_head", {6, 1, 7}, boolean));
          }}) == "its mask is another one for each head");
    CHECK(why_not_rows({.score = [](Graph& graph, Pair p) {
              return dot_product(p) + gather(input(graph, "slopes", {6}), p.head);
          }}) == "its score reads the head");
    CHECK(why_not_rows({.score = [](Graph&, Pair p) { return dot_product(p) + cast(p.i, f32); }}) ==
          "its score reads the position of the query");
    CHECK(why_not_rows({.dropout = 0.1}) == "its weights are dropped by the rows of each head");
}

TEST_CASE("where heads stay by themselves, values are the same") {
    const Attending one{.score = [](Graph& graph, Pair p) {
        return dot_product(p) + gather(input(graph, "slopes", {6}), p.head);
    }};
    const Graph graph = attend_with(one), result = fused_rows(graph);
    CHECK(count(result, Op::fused_attention) == 1);
    check_close(run(result, arrays_of(one)), run(graph, arrays_of(one)));
    check_gradients(result, arrays_of(one));
}
