// A fused attention reads keys and values in front of their casts, and computes the same.
#include "codegen/optimize/read_halves.h"

#include <fovea.h>

#include "codegen/graph/attention_input.h"
#include "codegen/group/fuse_attention.h"
#include "codegen/optimize/dead_code.h"
#include "tests/group/score_passes.h"

using namespace fovea;
using namespace fovea::test;

namespace {

/// Attention to keys and values that are cast from `type`; their sums read the keys, too.
Graph attention_to(DType type) {
    Graph graph;
    const Tensor q = input(graph, "q", {2, 2, 3, 5});
    const Tensor k = cast(input(graph, "k", {2, 2, 7, 5}, type), f32),
                 v = cast(input(graph, "v", {2, 2, 7, 4}, type), f32);
    output("y", attention(q, k, v, dot_product));
    output("total", sum(k, 3));
    const auto fuse_all = [](int, const ScoreFunction&) { return std::optional<std::string>(); };
    Notes notes;
    return fuse_attention(graph, simplify, differentiate, fuse_all, notes);
}

DType type_read(const Graph& graph, AttentionInput which) {
    for (const Node& node : graph.nodes)
        if (node.op == Op::fused_attention)
            return graph[node.inputs[std::size_t(int(which))]].dtype;
    return i32;
}

}  // namespace

TEST_CASE("attention reads keys and values of halves as they lie") {
    for (const DType type : {bf16, f16}) {
        CAPTURE(name_of(type));
        const Graph graph = attention_to(type), halves = dead_code(read_halves(graph));
        CHECK(type_read(graph, AttentionInput::key) == f32);
        CHECK(type_read(halves, AttentionInput::key) == type);
        CHECK(type_read(halves, AttentionInput::value) == type);
        CHECK(type_read(halves, AttentionInput::query) == f32);
        const Arrays arrays{{"q", random_array({2, 2, 3, 5}, 1)},
                            {"k", random_array({2, 2, 7, 5}, 2)},
                            {"v", random_array({2, 2, 7, 4}, 3)}};
        check_close(run(halves, arrays), run(graph, arrays));
    }
}

TEST_CASE("attention reads keys and values of float32 as before") {
    const Graph graph = attention_to(f32);
    CHECK(type_read(read_halves(graph), AttentionInput::key) == f32);
    CHECK(read_halves(graph).nodes.size() == graph.nodes.size());
}
