#include "codegen/decode/derive_score.h"

#include "codegen/decode/time_axis.h"
#include "codegen/graph/rewrite.h"
#include "codegen/ops/composed/losses.h"

namespace fovea {

namespace {

constexpr const char *kLabels = "labels", *kNats = "nats";

bool is_called_labels(const Graph& graph, int id) {
    const Node& node = graph[id];
    if (node.op == Op::input) return node.name == kLabels;
    return node.op == Op::parameter && graph.path(node.scope) == kLabels;
}

}  // namespace

std::optional<Graph> derive_score(const Graph& model) {
    const TimedGraph timed = find_time_axes(model);
    const Node& logits = model[timed.logits];
    if (!is_float(logits.dtype) || timed.axis[std::size_t(timed.logits)] != 1 ||
        logits.shape.rank() != 3)
        return std::nullopt;
    Rewrite rewrite(model);
    for (int id = 1; id < int(model.nodes.size()); ++id) {
        if (!timed.wanted[std::size_t(id)] || model[id].region) continue;
        if (is_called_labels(model, id)) return std::nullopt;
        rewrite.set(id, rewrite.copy(id));
    }
    Tensor labels = make(rewrite.target(), {.op = Op::input,
                                            .dtype = i32,
                                            .shape = {logits.shape[0], logits.shape[1]},
                                            .name = kLabels});
    Tensor nats = cross_entropy(rewrite.mapped(timed.logits), labels, {.mean = false});
    make(rewrite.target(), {.op = Op::output,
                            .dtype = nats.dtype(),
                            .shape = nats.shape(),
                            .inputs = inputs_of({nats.id}),
                            .name = kNats});
    return std::move(rewrite.target());
}

}  // namespace fovea
