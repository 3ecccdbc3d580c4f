#include "codegen/choose_attention.h"

#include "codegen/group/fuse_attention.h"

namespace fovea {

namespace {

std::int64_t static_size(const Dim& dim) { return dim.is_static() ? dim.value() : 1; }

std::string name_of(const Dim& dim) {
    Text text;
    text << dim;
    return std::string(text.view());
}

/// Of batch, heads, queries and keys, the first size that only the running program knows.
std::optional<std::string> unknown_size(const AttentionChoice& choice) {
    for (const Dim& dim : {choice.query[0], choice.query.rank() > 3 ? choice.query[1] : Dim(1),
                           choice.query[-2], choice.key[-2]})
        if (!dim.is_static()) return name_of(dim);
    return {};
}

}  // namespace

bool AttentionChoice::is_static() const { return !unknown_size(*this); }

fuse::AttentionWork AttentionChoice::work_at(
    const std::function<std::int64_t(const Dim&)>& size_of) const {
    fuse::AttentionWork at = work;
    at.batch = size_of(query[0]);
    at.heads = query.rank() > 3 ? size_of(query[1]) : 1;
    at.queries = size_of(query[-2]);
    at.keys = size_of(key[-2]);
    at.width = size_of(query[-1]);
    at.value_width = size_of(value[-1]);
    return at;
}

AttentionChoice choose_attention(const Graph& graph, int id, const ScoreFunction& function,
                                 bool gradient, AttentionForm form,
                                 const target::AttentionChoices& target) {
    const Node& node = graph[id];
    const AttentionAttributes& attributes = graph.attentions[std::size_t(node.attribute)];
    AttentionChoice choice{.place = place_of(graph, node),
                           .query = graph[node.inputs[0]].shape,
                           .key = graph[node.inputs[1]].shape,
                           .value = graph[node.inputs[2]].shape,
                           .work = {.window = attributes.window,
                                    .dropout = attributes.dropout > 0,
                                    .gradient = gradient,
                                    .score = fuse::pair_work(function.forward),
                                    .score_gradient = fuse::pair_work(function.gradient)},
                           .reason = {}};
    choice.work = choice.work_at(static_size);
    if (form != AttentionForm::faster) {
        choice.fused = form == AttentionForm::fused;
        choice.reason = "asked for";
    } else if (auto unknown = unknown_size(choice)) {
        choice.reason = "the size of " + *unknown + " is known only when the program runs, and " +
                        "the memory of one kernel does not grow with queries x keys";
    } else {
        const fuse::AttentionEstimate estimate = fuse::estimate_attention(choice.work, target);
        choice.fused = !estimate.prefers_plain;
        choice.reason = text_of(choice.work, estimate);
    }
    return choice;
}

}  // namespace fovea
