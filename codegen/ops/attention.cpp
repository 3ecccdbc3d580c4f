// Attention's body: scores of all pairs, masked softmax, dropout, and the weighted sum.
#include "codegen/ops/attention.h"

#include "codegen/ops/contraction.h"
#include "codegen/ops/definitions.h"
#include "codegen/ops/dropout.h"
#include "codegen/ops/over_pairs.h"
#include "codegen/ops/score_function.h"

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
    PairLeaves leaves{.query = e.inputs[0], .key = e.inputs[1]};
    for (int id : score.captured) leaves.captures.push_back(e.value_of(id));
    OverPairs over(score.graph, e.target, leaves);
    Shape pairs = over.pairs();
    Tensor scores = broadcast(over.output("score"), pairs);
    Mask mask{.is_causal = attributes.causal,
              .lens = e.inputs[3],
              .allowed = e.inputs[4],
              .masked_rows = e.node().masked_rows};
    bool masked = mask.is_causal || mask.lens || mask.allowed;
    Tensor weights = masked ? masked_softmax(scores, mask) : softmax(scores, -1);
    if (!e.inputs[2]) return weights;
    if (attributes.dropout > 0) {
        Shape shape = weights.shape();
        Tensor factors = random(e.target, shape, attributes.dropout, attributes.site);
        weights = weights * cast(factors, weights.dtype());
    }
    return weighted_sum(weights, e.inputs[2]);
}

}  // namespace

OpDef attention_def() { return {.op = Op::attention, .expand = attention_expand}; }

}  // namespace fovea::ops
