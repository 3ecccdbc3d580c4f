// Attention with any score of one (query, key) pair.
#pragma once

#include "codegen/ops/reduction.h"
#include "codegen/ops/softmax.h"

namespace fovea {

/// One query and one key, and where they are: what a score function gets.
struct Pair {
    Tensor q, k;                  // their vectors, [width]
    Tensor batch, head;           // i32 scalars
    Tensor i, j;                  // positions of the query and of the key, i32 scalars
};

/// q·k / √width (Vaswani et al. 2017, section 3.2.1).
inline constexpr auto dot_product = [](Pair p) { return dot(p.q, p.k) / sqrt(p.q.dim(-1)); };

struct AttentionOptions {
    double dropout = 0;  // of the weights
};

namespace detail {

/// v: empty for weights alone.
constexpr void check_attention(const Shape& q, const Shape& k, const Shape* v, Text& why) {
    if (q.rank() < 3 || q.rank() > 4 || q.rank() != k.rank() || (v && q.rank() != v->rank()))
        why << (v ? "q, k and v" : "q and k") << " must all be [batch, (heads,) length, width]";
    for (int i = 0; !why.size() && i < q.rank() - 2; ++i)
        if (!fits(q[i], k[i]) || (v && !fits(k[i], (*v)[i]))) why << "leading dims differ";
    if (!why.size() && v && !fits(k[-2], (*v)[-2])) why << "keys and values differ in length";
    if (!why.size()) return;
    why << " (q " << q << ", k " << k;
    if (v) why << ", v " << *v;
    why << ")";
}

constexpr Pair make_pair(Graph& graph, Tensor q, Tensor k, Location location) {
    auto part = [&](PairPart which, DType type, const Shape& shape) {
        return make(
            graph,
            {.op = Op::pair, .dtype = type, .shape = shape, .location = location, .part = which});
    };
    return {part(PairPart::query, q.dtype(), {q.dim(-1)}),
            part(PairPart::key, k.dtype(), {k.dim(-1)}),
            part(PairPart::batch, i32, {}),
            part(PairPart::head, i32, {}),
            part(PairPart::query_index, i32, {}),
            part(PairPart::key_index, i32, {})};
}

/// The node of attention, or of its weights where `v` is empty.
template <class Score>
constexpr Tensor make_attention(Tensor q, Tensor k, Tensor v, Score&& score, const Mask& mask,
                                AttentionOptions options, Location location) {
    bool poison = q.is_poison() || k.is_poison() || (v && v.is_poison()) ||
                  (mask.lens && mask.lens.is_poison()) ||
                  (mask.allowed && mask.allowed.is_poison());
    if (poison) return {q.graph, 0};
    Graph& graph = *q.graph;
    auto wrong = [&](const Text& why) {
        Text text;
        text << (v ? "attention: " : "attention_weights: ") << why.view();
        return fail(graph, location, graph.scope_of(q.id), text);
    };
    Text why;
    check_attention(q.shape(), k.shape(), v ? &v.shape() : nullptr, why);
    if (why.size()) return wrong(why);
    Shape scores = q.shape();
    scores[-1] = k.dim(-2);
    check_mask(scores, mask, why);
    if (why.size()) return wrong(why);

    int outer = graph.region, region = graph.region = graph.regions++;
    Tensor of_pair = score(make_pair(graph, q, k, location));
    graph.region = outer;
    if (of_pair.is_poison()) return of_pair;
    if (of_pair.rank() != 0 || !is_float(of_pair.dtype())) {
        why << "the score of a pair must be one number, got " << name_of(of_pair.dtype()) << " "
            << of_pair.shape();
        return wrong(why);
    }
    int module = graph.common_scope(graph.scope_of(q.id), graph.scope_of(k.id));
    if (v) module = graph.common_scope(module, graph.scope_of(v.id));
    Shape shape = scores;
    if (v) shape[-1] = v.dim(-1);
    graph.attentions.push_back({.score = of_pair.id,
                                .region = region,
                                .causal = mask.is_causal,
                                .has_lens = bool(mask.lens),
                                .has_allowed = bool(mask.allowed),
                                .dropout = options.dropout,
                                .site = options.dropout > 0 ? graph.sites++ : 0});
    return make(graph,
                {.op = Op::attention,
                 .dtype = q.dtype(),
                 .shape = shape,
                 .inputs = inputs_of({q.id, k.id, v ? v.id : -1, mask.lens ? mask.lens.id : -1,
                                      mask.allowed ? mask.allowed.id : -1}),
                 .scope = module,
                 .location = location,
                 .attribute = int(graph.attentions.size()) - 1,
                 .masked_rows = mask.masked_rows});
}

}  // namespace detail

/// Σ_k softmax_k(score(q, k)) v_k: q [batch, (heads,) queries, width], k [.., keys, width],
/// v [.., keys, value width] → [.., queries, value width]. `score` takes a Pair and gives a scalar.
template <class Score>
constexpr Tensor attention(Tensor q, Tensor k, Tensor v, Score&& score, const Mask& mask = {},
                           AttentionOptions options = {}, Location location = Location::here()) {
    return detail::make_attention(q, k, v, score, mask, options, location);
}

/// softmax_k(score(q, k)): the weights that `attention` gives its values before dropout,
/// [batch, (heads,) queries, keys]. For looking at them: attention itself does not store them.
template <class Score>
constexpr Tensor attention_weights(Tensor q, Tensor k, Score&& score, const Mask& mask = {},
                                   Location location = Location::here()) {
    return detail::make_attention(q, k, {}, score, mask, {}, location);
}

}  // namespace fovea
