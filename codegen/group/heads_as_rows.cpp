#include "codegen/group/heads_as_rows.h"

#include <algorithm>

#include "codegen/ops/movement.h"

namespace fovea {

namespace {

bool reads(const Graph& function, Role role) {
    return std::any_of(function.nodes.begin(), function.nodes.end(), [&](const Node& node) {
        return std::any_of(node.inputs.begin(), node.inputs.end(), [&](int input) {
            return input > 0 && function[input].op == Op::input &&
                   function[input].port.role == role;
        });
    });
}

/// Whether a boolean tensor [(batch, (heads,) queries,) keys] has an axis of heads.
bool has_heads(const Shape& allowed) { return allowed.rank() >= 3 && !allowed[-3].is_one(); }

}  // namespace

std::optional<std::string> why_not_heads_as_rows(const Graph& graph, int id,
                                                 const ScoreFunction& function) {
    const Node& node = graph[id];
    const AttentionAttributes& attributes = graph.attentions[std::size_t(node.attribute)];
    const Shape &q = graph[node.inputs[0]].shape, &v = graph[node.inputs[2]].shape;
    if (q.rank() != 4 || !q[2].is_one()) return "there is more than one query";
    if (q[1].without_label() == v[1].without_label()) return "each head has keys of its own";
    if (attributes.window.ends_before() || attributes.window.ends_after() ||
        attributes.has_segments)
        return "its mask reads the position of the query";
    if (attributes.has_allowed && has_heads(graph[node.inputs[4]].shape))
        return "its mask is another one for each head";
    if (reads(function.forward, Role::head)) return "its score reads the head";
    if (reads(function.forward, Role::query_index))
        return "its score reads the position of the query";
    if (attributes.dropout > 0) return "its weights are dropped by the rows of each head";
    return {};
}

Tensor heads_as_rows(Tensor q, const Dim& groups) {
    return rearrange(squeeze(q, 2), "b (h m) d -> b h m d", {"h", groups.without_label()});
}

Tensor rows_as_heads(Tensor y) { return unsqueeze(rearrange(y, "b h m e -> b (h m) e"), 2); }

Mask mask_of_rows(Mask mask) {
    if (mask.lens.exists() && mask.lens.rank() == 2) mask.lens = squeeze(mask.lens, 1);
    return mask;
}

}  // namespace fovea
