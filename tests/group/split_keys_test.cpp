// One position that attends with few heads: parts of the keys, joined, give the same values; and
// where keys stay whole, and why.
#include "codegen/group/split_keys.h"

#include <fovea.h>

#include <functional>

#include "codegen/group/fuse_attention.h"
#include "tests/group/score_passes.h"

using namespace fovea;
using namespace fovea::test;

namespace {

constexpr int kTasks = 8;

struct Splitting {
    Extents queries = {2, 2, 3, 5};
    std::int64_t heads = 2, keys = 300;
    std::function<Mask(Graph&)> mask = [](Graph&) { return no_mask; };
    double dropout = 0, score_scale = 1;
};

Graph fused_of(const Splitting& of) {
    Graph graph;
    Tensor q = input(graph, "q", of.queries), k = input(graph, "k", {2, of.heads, of.keys, 5}),
           v = input(graph, "v", {2, of.heads, of.keys, 3});
    const Mask mask = of.mask(graph);
    const auto score = [&](Pair p) { return dot_product(p) * of.score_scale; };
    output("y", attention(q, k, v, score, mask, {.dropout = of.dropout}));
    const auto fuse_all = [](int, const ScoreFunction&) { return std::optional<std::string>(); };
    Notes notes;
    return fuse_attention(graph, simplify, differentiate, fuse_all, notes);
}

/// Every third key, and none for the second sequence.
Array allowed_keys(std::int64_t keys) {
    Array allowed{{2, 1, 1, keys}, std::vector<double>(std::size_t(2 * keys), 0)};
    for (std::size_t i = 0; i < std::size_t(keys); i += 3) allowed.values[i] = 1;
    return allowed;
}

Arrays inputs_of(const Splitting& of, std::vector<double> lens) {
    return {{"q", random_array(of.queries, 1)},
            {"k", random_array({2, of.heads, of.keys, 5}, 2)},
            {"v", random_array({2, of.heads, of.keys, 3}, 3)},
            {"lens", {{2}, lens}},
            {"lens_of_query", {{2, 3}, {lens[0], 0, 1, lens[1], 299, 16}}},
            {"allowed", allowed_keys(of.keys)}};
}

std::string why_whole(const Splitting& of, int tasks = kTasks) {
    const Graph graph = fused_of(of);
    for (int id = 1; id < int(graph.nodes.size()); ++id)
        if (graph[id].op == Op::fused_attention)
            return why_not_split_keys(graph, id, tasks).value_or("");
    return "no attention";
}

Tensor lens_input(Graph& graph) { return input(graph, "lens", {2}, i32); }

}  // namespace

TEST_CASE("parts of keys, joined, are attention to all of them") {
    const std::vector<std::function<Mask(Graph&)>> masks = {
        [](Graph&) { return no_mask; },
        [](Graph& graph) { return padding(lens_input(graph)); },
        [](Graph& graph) { return padding(lens_input(graph)).with(MaskedRows::zero); },
        [](Graph& graph) { return padding(input(graph, "lens_of_query", {2, 3}, i32)); },
        [](Graph& graph) { return allowed(input(graph, "allowed", {2, 1, 1, 300}, boolean)); },
        [](Graph& graph) {
            return padding(lens_input(graph)) &
                   allowed(input(graph, "allowed", {2, 1, 1, 300}, boolean));
        },
        [](Graph& graph) {
            return allowed(input(graph, "allowed", {2, 1, 1, 300}, boolean)).with(MaskedRows::zero);
        }};
    for (std::size_t i = 0; i < masks.size(); ++i)
        for (const std::vector<double>& lens :
             {std::vector<double>{0, 1}, {15, 16}, {17, 64}, {65, 300}}) {
            CAPTURE(i);
            CAPTURE(lens[0]);
            const Splitting one{.mask = masks[i]};
            const Graph graph = fused_of(one), parts = dead_code(split_keys(graph, kTasks));
            verify_graph(parts);
            REQUIRE(count(parts, Op::fused_attention) == 2);  // with the statistics
            check_close(run(parts, inputs_of(one, lens)), run(graph, inputs_of(one, lens)));
        }
}

TEST_CASE("a row that sees keys, and whose scores are all -infinity, is NaN from parts, too") {
    const Splitting one{.score_scale = -1e300};
    Arrays inputs = inputs_of(one, {1, 1});
    for (double& x : inputs.at("q").values) x = 1e300;
    for (double& x : inputs.at("k").values) x = 1;
    const Array result = run(split_keys(fused_of(one), kTasks), inputs);
    for (double y : result.values) CHECK(std::isnan(y));
}

TEST_CASE("where keys stay whole, and why") {
    CHECK(why_whole({}) == "");
    CHECK(why_whole({}, 1) == "the target takes keys whole");
    CHECK(why_whole({}, 7) == "its heads are tasks enough");
    CHECK(why_whole({.queries = {2, 2, 17, 5}}) == "its queries are many");
    CHECK(why_whole({.queries = {2, 4, 3, 5}}) == "heads share keys");
    CHECK(why_whole({.keys = 255}) == "its keys are few");
    CHECK(why_whole({.mask = [](Graph&) { return causal; }}) ==
          "its mask reads the position of the query");
    CHECK(why_whole({.dropout = 0.1}) == "its weights are dropped");
}

TEST_CASE("attention whose gradient is asked for keeps its keys whole") {
    const Graph graph = differentiate(fused_of({}));
    const Graph parts = split_keys(graph, kTasks);
    CHECK(count(parts, Op::fused_attention) == count(graph, Op::fused_attention));
}
