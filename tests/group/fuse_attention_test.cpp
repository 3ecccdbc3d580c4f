// Attention as one kernel: its gradients against finite differences, and what is refused.
#include "codegen/group/fuse_attention.h"

#include <fovea.h>

#include "tests/group/score_passes.h"

using namespace fovea;
using namespace fovea::test;

namespace {

struct Fused {
    Graph graph;
    Notes notes;
};
Fused fused(const Graph& graph) {
    Fused result;
    const auto fuse_all = [](int, const ScoreFunction&) { return std::optional<std::string>(); };
    result.graph = fuse_attention(graph, simplify, differentiate, fuse_all, result.notes);
    return result;
}

void attend(Graph& graph, const Mask& mask, double dropout = 0) {
    Tensor q = input(graph, "q", {2, 3, 4, 5}), k = input(graph, "k", {2, 3, 6, 5}),
           v = input(graph, "v", {2, 3, 6, 7}), w = input(graph, "w", {5}),
           slopes = input(graph, "slopes", {3});
    auto score = [&](Pair p) {
        Tensor far = cast(p.i - p.j, f32);
        return dot(w, tanh(p.q + p.k)) + dot_product(p) + gather(slopes, p.head) * far;
    };
    output("y", attention(q, k, v, score, mask, {.dropout = dropout}));
}

Arrays arrays() {
    return {{"q", random_array({2, 3, 4, 5}, 1)},
            {"k", random_array({2, 3, 6, 5}, 2)},
            {"v", random_array({2, 3, 6, 7}, 3)},
            {"w", random_array({5}, 4)},
            {"slopes", random_array({3}, 5)}};
}

/// Why the attention of a model with this score is not one kernel.
template <class Score>
std::string reason_of_score(Score&& score, DType dtype = f32) {
    Graph graph;
    Tensor q = make(graph, {.op = Op::input, .dtype = dtype, .shape = {2, 4, 5}, .name = "q"});
    output("y", attention(q, q, q, [&](Pair p) { return score(graph, p); }));
    Fused result = fused(graph);
    CHECK(count(result.graph, Op::fused_attention) == 0);
    REQUIRE(result.notes.size() == 1);
    const std::string& note = result.notes[0];
    return note.substr(note.rfind(": ") + 2);
}

}  // namespace

TEST_CASE("gradients of queries, keys, values and what a score captures") {
    for (bool is_causal : {false, true}) {
        Graph graph;
        attend(graph, is_causal ? causal : no_mask);
        Fused result = fused(graph);
        CHECK(count(result.graph, Op::fused_attention) == 1);
        CHECK(result.notes.empty());
        check_close(run(result.graph, arrays()), run(graph, arrays()));
        check_gradients(result.graph, arrays());
    }
}

TEST_CASE("without an axis of heads, a table by head has one entry, and its gradient") {
    Graph graph;
    Tensor q = input(graph, "q", {2, 4, 5}), k = input(graph, "k", {2, 6, 5}),
           slopes = input(graph, "slopes", {1});
    auto score = [&](Pair p) {
        return dot_product(p) + gather(slopes, p.head) * cast(p.i - p.j, f32);
    };
    output("y", attention(q, k, k, score));
    CHECK(count(fused(graph).graph, Op::fused_attention) == 1);
    check_gradients(fused(graph).graph, {{"q", random_array({2, 4, 5}, 1)},
                                         {"k", random_array({2, 6, 5}, 2)},
                                         {"slopes", random_array({1}, 3)}});
}

TEST_CASE("lengths, with rows that see nothing") {
    for (MaskedRows rows : {MaskedRows::uniform, MaskedRows::zero}) {
        Graph graph;
        Tensor lens = input(graph, "lens", {2}, i32);
        attend(graph, padding(lens).with(rows));
        Arrays all = arrays();
        all["lens"] = {{2}, {0, 4}};
        Graph result = fused(graph).graph;
        check_close(run(result, all), run(graph, all));
        check_gradients(result, all);
    }
}

TEST_CASE("dropout is drawn again in the backward pass") {
    Graph graph;
    attend(graph, causal, 0.4);
    check_gradients(fused(graph).graph, arrays(), {.training = true, .seed = 5, .step = 2});
}

TEST_CASE("what is not one kernel, and why") {
    auto plain = [](Graph&, Pair p) { return dot(p.q, p.k); };
    CHECK(reason_of_score(plain, DType::bf16) == "its values are not float32");
    CHECK(reason_of_score([](Graph&, Pair p) { return amax(p.q * p.k, 0); }) ==
          "its score uses reduce of a maximum");
    CHECK(reason_of_score([](Graph&, Pair p) { return sum(concat(p.q, p.k, 0), 0); }) ==
          "its score uses concat");
    const auto by_number = [](const Extents& shape) {
        return [shape](Graph& graph, Pair p) {
            Tensor row = gather(input(graph, "table", shape), clamp(p.i - p.j + 4, 0, 8));
            return dot(p.q, p.k) + (row.rank() ? sum(row, 0) : row);
        };
    };
    CHECK(reason_of_score(by_number({513})) ==
          "its score looks up a learned table of more than 512 rows by something other than the "
          "head");
    CHECK(reason_of_score(by_number({64, 65})) ==
          "its score looks up a learned table of more than 4096 elements by something other than "
          "the head");
    CHECK(reason_of_score([](Graph&, Pair p) { return gather(p.q, p.j % 5) * 2.0; }) ==
          "its score looks up a table that is another one for every pair");
}

TEST_CASE("an attention that another reason keeps stays as it is, and says so") {
    Graph graph;
    attend(graph, causal);
    Notes notes;
    const auto keep = [](int, const ScoreFunction&) { return std::optional<std::string>("small"); };
    const Graph result = fuse_attention(graph, simplify, differentiate, keep, notes);
    CHECK(count(result, Op::fused_attention) == 0);
    CHECK(count(result, Op::attention) == 1);
    REQUIRE(notes.size() == 1);
    CHECK(notes[0].ends_with(": attention is not one kernel: small"));
}
