// What scores cost for a pair, and which form of attention is estimated to be the faster.
#include "codegen/fuse/estimate_attention.h"

#include <doctest/doctest.h>
#include <fovea.h>

#include "codegen/pipeline.h"

using namespace fovea;
using fuse::AttentionWork;

namespace {

enum class Score { dot_product, soft_cap, additive };

/// Attention of one program: batch 4, 4 heads (the additive one has none), width 32.
Graph attention_graph(Score which, Dim length, double dropout = 0) {
    Graph graph;
    Scope s{&graph};
    const bool additive = which == Score::additive;
    auto vectors = [&](const char* name) {
        return additive ? s.input(name, {4, length, 32}) : s.input(name, {4, 4, length, 32});
    };
    Tensor q = vectors("q"), k = vectors("k"), v = vectors("v"), w = s.input("w", {32}),
           slopes = s.input("slopes", {4});
    auto score = [&](Pair p) {
        if (additive) return dot(w, tanh(p.q + p.k));
        if (which == Score::dot_product) return dot_product(p);
        Tensor far = gather(slopes, p.head) * cast(p.j - p.i, f32);
        return 30 * tanh((dot_product(p) + far) / 30);
    };
    s.output("y", attention(q, k, v, score, causal, {.dropout = dropout}));
    return graph;
}

CompiledProgram compiled_as(const Graph& graph, bool gradient,
                            AttentionForm form = AttentionForm::faster) {
    const Gradients gradients = gradient ? Gradients::of_parameters_and_inputs : Gradients::none;
    return compile_model("m", "m.cpp", {},
                         {{.name = "p",
                           .graph = graph,
                           .training = true,
                           .gradients = gradients,
                           .fusion = {true, form}}})
        .programs[0];
}

AttentionWork work_of(Score which, Dim length = 16) {
    return compiled_as(attention_graph(which, length), true).attentions.at(0).work;
}

bool is_fused(const CompiledProgram& program) {
    for (const Node& node : program.optimized.nodes)
        if (node.op == Op::fused_attention) return true;
    return false;
}

}  // namespace

TEST_CASE("what a pair costs: products, other operations, transcendental ones") {
    const AttentionWork dot = work_of(Score::dot_product);
    CHECK(dot.score.multiply_adds == 32);
    CHECK(dot.score.operations == 1);  // the scale
    CHECK(dot.score.transcendentals == 0);
    CHECK(dot.score.widest == 1);
    CHECK(dot.score_gradient.multiply_adds == 3 * 32);
    CHECK(dot.score_gradient.operations == 2);
    const AttentionWork capped = work_of(Score::soft_cap);
    CHECK(capped.score.multiply_adds == 32);
    CHECK(capped.score.transcendentals == 1);
    CHECK(capped.score.widest == 1);
    const AttentionWork additive = work_of(Score::additive);
    CHECK(additive.score.multiply_adds == 32);
    CHECK(additive.score.operations == 32);  // the sum of the two vectors
    CHECK(additive.score.transcendentals == 32);
    CHECK(additive.score.widest == 32);
}

TEST_CASE("small causal attention is faster in plain ops, large attention as one kernel") {
    AttentionWork work = work_of(Score::soft_cap);
    for (const bool dropout : {false, true}) {
        CAPTURE(dropout);
        work.dropout = dropout;
        work.gradient = true;
        for (std::int64_t length : {16, 32, 64}) {  // one kernel took 1.3 to 1.7 times as long
            CAPTURE(length);
            work.queries = work.keys = length;
            CHECK(estimate_attention(work, {}).prefers_plain);
        }
        for (std::int64_t length : {192, 256, 1024}) {  // 0.4 to 0.9
            CAPTURE(length);
            work.queries = work.keys = length;
            CHECK(!estimate_attention(work, {}).prefers_plain);
        }
        work.gradient = false;
        for (std::int64_t length : {64, 256}) {
            work.queries = work.keys = length;
            CHECK(!estimate_attention(work, {}).prefers_plain);
        }
    }
}

TEST_CASE("estimates grow with every size, and by more in plain ops where pairs are many") {
    const AttentionWork work = work_of(Score::dot_product);
    const fuse::AttentionEstimate before = estimate_attention(work, {});
    for (std::int64_t AttentionWork::* size :
         {&AttentionWork::batch, &AttentionWork::heads, &AttentionWork::queries,
          &AttentionWork::keys, &AttentionWork::value_width}) {
        AttentionWork larger = work;
        larger.*size *= 2;
        CHECK(estimate_attention(larger, {}).plain > before.plain);
        CHECK(estimate_attention(larger, {}).fused > before.fused);
    }
    AttentionWork four = work, eight = work;
    four.queries = four.keys = 4096;
    eight.queries = eight.keys = 8192;
    CHECK(estimate_attention(eight, {}).plain / estimate_attention(four, {}).plain > 3.9);
    CHECK(estimate_attention(four, {}).plain > 2 * estimate_attention(four, {}).fused);
}

TEST_CASE("a program takes the faster form where its sizes are static, and says so") {
    const Graph small = attention_graph(Score::soft_cap, {"len", 16}, 0.1);
    const CompiledProgram plain = compiled_as(small, true);
    CHECK(!is_fused(plain));
    REQUIRE(plain.notes.size() == 1);
    const std::string& note = plain.notes[0];
    CHECK(note.find("attention is not one kernel: at 4 x 4 x 16 x 16 (batch, heads, queries, "
                    "keys) the plain ops are estimated at ") != std::string::npos);
    CHECK(is_fused(compiled_as(small, true, AttentionForm::fused)));
    CHECK(!is_fused(compiled_as(small, true, AttentionForm::plain)));
    const CompiledProgram large =
        compiled_as(attention_graph(Score::soft_cap, {"len", 512}, 0.1), true);
    CHECK(is_fused(large));
    CHECK(large.notes.empty());
    CHECK(large.attentions.at(0).reason.find("512 x 512") != std::string::npos);
}

TEST_CASE("attention whose sizes the running program knows is one kernel") {
    const CompiledProgram program = compiled_as(attention_graph(Score::soft_cap, "len"), true);
    CHECK(is_fused(program));
    CHECK(!program.attentions.at(0).is_static());
    CHECK(program.attentions.at(0).reason ==
          "the size of len is known only when the program runs, and the memory of one kernel does "
          "not grow with queries x keys");
}
