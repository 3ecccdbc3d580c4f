// Attention's body: scores of all pairs, masked softmax, dropout, and the weighted sum.
#include "codegen/ops/attention/attention.h"

#include "codegen/ops/attention/grouped_heads.h"
#include "codegen/ops/attention/mask_attributes.h"
#include "codegen/ops/attention/over_pairs.h"
#include "codegen/ops/attention/score_function.h"
#include "codegen/ops/contraction.h"
#include "codegen/ops/definitions.h"
#include "codegen/ops/dropout.h"

namespace fovea::ops {

namespace {

Tensor weighted_sum(Tensor weights, Tensor v) {
    EinsumAxes axes;
    int leading = v.rank() - 2, query = leading, key = leading + 1, width = leading + 2;
    for (EinsumAxes::List* list : {&axes.a, &axes.b, &axes.out})
        for (int i = 0; i < leading; ++i) list->push(i);
    for (int label : {query, key}) axes.a.push(label);
    for (int label : {key, width}) axes.b.push(label);
    for (int label : {query, width}) axes.out.push(label);
    return einsum(weights, v, axes, Location::here());
}

Tensor attention_expand(const Expansion& e) {
    const AttentionAttributes& attributes = e.source.attentions[std::size_t(e.node().attribute)];
    ExtractedScore score = extract_score(e.source, e.id);
    const Dim heads = e.inputs[0].dim(1);
    PairLeaves leaves{.query = e.inputs[0], .key = repeat_heads(e.inputs[1], heads)};
    for (int id : score.captured) leaves.captures.push_back(e.value_of(id));
    OverPairs over(score.graph, e.target, leaves);
    Shape pairs = over.pairs();
    Tensor scores = broadcast(over.output({Role::score}), pairs);
    Mask mask = mask_of(e.source, e.node(), e.inputs);
    bool masked = mask.window.is_limited() || mask.lens.exists() || mask.allowed.exists() ||
                  mask.segments.exists();
    Tensor weights = masked ? masked_softmax(scores, mask) : softmax(scores, -1);
    if (!e.inputs[2].exists()) return weights;
    if (attributes.dropout > 0)
        weights = detail::times_random(weights, attributes.dropout, attributes.site);
    return weighted_sum(weights, repeat_heads(e.inputs[2], heads));
}

Tensor attention_derive(const Derivation& d) {
    const Mask mask = mask_of(d.source, d.node, d.inputs);
    if (!d.inputs[2].exists())
        return attention_weights(d.inputs[0], d.inputs[1], dot_product, mask);
    return attention(d.inputs[0], d.inputs[1], d.inputs[2], dot_product, mask);
}
std::string attention_text(const Graph& graph, const Node& node) {
    return "attention" + mask_text(graph, node);
}
std::vector<IdOperand> attention_ids(const Graph& graph, const Node& node) {
    if (node.inputs[3] <= 0) return {};
    return {{3, Holds::lengths, graph[node.inputs[1]].shape[-2]}};
}

std::string pair_text(const Graph&, const Node& node) {
    return fmt::format("pair {}", name_of(node.port));
}

}  // namespace

OpDef pair_def() { return {.op = Op::pair, .unique = true, .text = pair_text}; }
OpDef attention_def() {
    return {.op = Op::attention,
            .inputs = {2, 6},
            .attribute = Attribute::attention,
            .unique = true,
            .expand = attention_expand,
            .derive = attention_derive,
            .why_not_derivable = why_not_masked,
            .text = attention_text,
            .ids = attention_ids};
}

}  // namespace fovea::ops
