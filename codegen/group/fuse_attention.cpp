// Takes each score out of its graph, differentiates it for one pair, and seals both in one node.
#include "codegen/group/fuse_attention.h"

#include "codegen/graph/rewrite.h"
#include "codegen/group/heads_as_rows.h"
#include "codegen/group/order_look_ups.h"
#include "codegen/ops/attention/fused_attention.h"
#include "codegen/ops/attention/segments.h"

namespace fovea {

std::string place_of(const Graph& graph, const Node& node) {
    std::string path = graph.path(node.scope);
    if (path.empty()) path = "attention";
    if (!node.location.line) return path;
    return path + " (" + std::string(node.location.file_name()) + ":" +
           std::to_string(node.location.line) + ")";
}

Graph fuse_attention(const Graph& graph, Graph (*simplify)(const Graph&),
                     Graph (*differentiate)(const Graph&), const WhyNotHere& why_not_here,
                     Notes& notes) {
    return Rewrite::run(graph, [&](Rewrite& rewrite, int id) -> std::optional<Tensor> {
        const Node& node = graph[id];
        if (node.op != Op::attention || node.inputs[2] < 0) return {};  // weights are stored
        const CapturedScore score = order_look_ups(extract_score(graph, id), rewrite);
        ScoreFunction function{simplify(score.graph), simplify(differentiate(score.graph))};
        auto why = why_not_fused_attention(graph, id, function);
        if (!why) why = why_not_here(id, function);
        if (why) {
            notes.push_back(place_of(graph, node) + ": attention is not one kernel: " + *why);
            return {};
        }
        auto input = [&](int i) {
            int from = node.inputs[std::size_t(i)];
            return from >= 0 ? rewrite.mapped(from) : Tensor();
        };
        Mask mask{.window = {}, .lens = input(3), .allowed = input(4), .segments = input(5)};
        SegmentBounds segments;
        if (mask.segments.exists()) segments = bounds_of_segments(mask.segments);
        mask.segments = segments.first;
        const bool rows = !why_not_heads_as_rows(graph, id, function);
        const Tensor k = input(1), v = input(2),
                     q = rows ? heads_as_rows(input(0), v.dim(1)) : input(0);
        const Tensor y = fused_attention(graph, id, q, k, v, rows ? mask_of_rows(mask) : mask,
                                         segments.end, score.captures, keep(std::move(function)));
        return rows ? rows_as_heads(y) : y;
    });
}

}  // namespace fovea
