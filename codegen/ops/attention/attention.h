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

namespace detail {

/// q·k, which stands where the attention does.
constexpr Tensor product_of_pair(Pair p) {
    const Location location = p.q.node().location;
    if (fits(p.q.shape(), p.k.shape())) return dot(At{location}(p.q), p.k);
    Text text;
    text << "attention: queries of " << p.q.dim(-1) << " elements and keys of " << p.k.dim(-1)
         << " have no dot product: give them one width, or a score of your own";
    return fail(*p.q.graph, location, p.q.graph->scope_of(p.q.id), text);
}

}  // namespace detail

/// q·k / √width (Vaswani et al. 2017, section 3.2.1).
inline constexpr auto dot_product = [](Pair p) {
    const detail::At at{p.q.node().location};
    return at(detail::product_of_pair(p)) / sqrt(p.q.dim(-1));
};

/// q·k · scale, for checkpoints with a scale of their own: `scaled_dot_product(1 / 16.0)`.
constexpr auto scaled_dot_product(double scale) {
    return [scale](Pair p) {
        const detail::At at{p.q.node().location};
        return at(detail::product_of_pair(p)) * scale;
    };
}

struct AttentionOptions {
    double dropout = 0;  // of the weights
};

namespace detail {

/// All of one type of float.
constexpr void check_types(Tensor q, Tensor k, Tensor v, Text& why) {
    if (is_float(q.dtype()) && q.dtype() == k.dtype() && (!v.exists() || q.dtype() == v.dtype()))
        return;
    why << (v.exists() ? "q, k and v" : "q and k")
        << " must be f32, bf16 or f16, all of one type, got " << name_of(q.dtype()) << ", "
        << name_of(k.dtype());
    if (v.exists()) why << ", " << name_of(v.dtype());
}

/// Whether queries of so many heads can read keys of so many.
constexpr bool groups_heads(const Dim& queries, const Dim& keys) {
    const Dim of_queries = queries.without_label(), of_keys = keys.without_label();
    return of_queries == of_keys ||
           (!(of_queries == 0) && !(of_keys == 0) && of_queries.divisible_by(of_keys));
}

/// v: empty for weights alone.
constexpr void check_attention(const Shape& q, const Shape& k, const Shape* v, Text& why) {
    if (q.rank() < 3 || q.rank() > 4 || q.rank() != k.rank() || (v && q.rank() != v->rank()))
        why << (v ? "q, k and v" : "q and k") << " must all be [batch, (heads,) length, width]";
    for (int i = 0; !why.size() && i < q.rank() - 2; ++i) {
        if (v && !fits(k[i], (*v)[i])) why << "keys and values differ in their leading dims";
        else if (i == 1 && !groups_heads(q[i], k[i]))
            why << q[i] << " heads of queries are not a multiple of " << k[i] << " of keys";
        else if (i == 0 && !fits(q[i], k[i])) why << "leading dims differ";
    }
    if (!why.size() && v && !fits(k[-2], (*v)[-2])) why << "keys and values differ in length";
    if (!why.size()) return;
    why << " (q " << q << ", k " << k;
    if (v) why << ", v " << *v;
    why << ")";
}

constexpr Pair make_pair(Graph& graph, Tensor q, Tensor k, Location location) {
    auto part = [&](Role role, DType type, const Shape& shape) {
        return make(
            graph,
            {.op = Op::pair, .dtype = type, .shape = shape, .location = location, .port = {role}});
    };
    return {part(Role::query, q.dtype(), {q.dim(-1)}),
            part(Role::key, k.dtype(), {k.dim(-1)}),
            part(Role::batch, i32, {}),
            part(Role::head, i32, {}),
            part(Role::query_index, i32, {}),
            part(Role::key_index, i32, {})};
}

/// The node of attention, or of its weights where `v` is empty.
template <class Score>
constexpr Tensor make_attention(Tensor q, Tensor k, Tensor v, Score&& score, const Mask& mask,
                                AttentionOptions options, Location location) {
    const char* const name = v.exists() ? "attention" : "attention_weights";
    if (!is_usable(
            name, location,
            {q, k, v.exists() ? v : q, mask.lens.exists() ? mask.lens : q,
             mask.allowed.exists() ? mask.allowed : q, mask.segments.exists() ? mask.segments : q}))
        return poison_of({q, k});
    Graph& graph = *q.graph;
    auto wrong = [&](const Text& why) {
        Text text;
        text << name << ": " << why.view();
        return fail(graph, location, graph.scope_of(q.id), text);
    };
    Text why;
    check_attention(q.shape(), k.shape(), v.exists() ? &v.shape() : nullptr, why);
    if (!why.size()) check_types(q, k, v, why);
    if (!why.size() && !(options.dropout >= 0 && options.dropout < 1))
        why << "the probability of its dropout must be in [0, 1)";
    if (why.size()) return wrong(why);
    Shape scores = q.shape();
    scores[-1] = k.dim(-2);
    check_mask(scores, mask, why);
    if (why.size()) return wrong(why);

    const int outer = graph.region, region = graph.enter_region();
    const Pair pair = make_pair(graph, q, k, location);
    static_assert(std::is_convertible_v<decltype(score(pair)), Tensor>,
                  "the score of a pair is a tensor of one number: full(*p.q.graph, {}, 1.0) is the "
                  "same number for all pairs p");
    Tensor of_pair = score(pair);
    const bool usable = is_usable(name, location, {q, of_pair});
    graph.leave_region(outer);
    if (!usable) return poison_of({q});
    if (of_pair.rank() != 0 || !is_float(of_pair.dtype())) {
        why << "the score of a pair must be one number, got " << name_of(of_pair.dtype()) << " "
            << of_pair.shape();
        return wrong(why);
    }
    int module = graph.common_scope(graph.scope_of(q.id), graph.scope_of(k.id));
    if (v.exists()) module = graph.common_scope(module, graph.scope_of(v.id));
    Shape shape = scores;
    if (v.exists()) shape[-1] = v.dim(-1);
    graph.attentions.push_back({.score = of_pair.id,
                                .region = region,
                                .window = mask.window,
                                .has_lens = mask.lens.exists(),
                                .has_allowed = mask.allowed.exists(),
                                .has_segments = mask.segments.exists(),
                                .dropout = options.dropout,
                                .site = options.dropout > 0 ? graph.sites++ : 0});
    return make(graph, {.op = Op::attention,
                        .dtype = q.dtype(),
                        .shape = shape,
                        .inputs = inputs_of({q.id, k.id, v.exists() ? v.id : -1,
                                             mask.lens.exists() ? mask.lens.id : -1,
                                             mask.allowed.exists() ? mask.allowed.id : -1,
                                             mask.segments.exists() ? mask.segments.id : -1}),
                        .scope = module,
                        .location = location,
                        .attribute = int(graph.attentions.size()) - 1,
                        .masked_rows = mask.masked_rows});
}

}  // namespace detail

/// Σ_k softmax_k(score(q, k)) v_k: q [batch, (heads,) queries, width], k [.., keys, width],
/// v [.., keys, value width] → [.., queries, value width]. `score` takes a Pair and gives a scalar.
/// Keys and values may have fewer heads: neighbouring heads of queries then share one.
template <class Score>
constexpr Tensor attention(Tensor q, Tensor k, Tensor v, Score&& score, const Mask& mask = {},
                           AttentionOptions options = {}, Location location = Location::here()) {
    return detail::make_attention(q, k, v, score, mask, options, location);
}

/// softmax_k(score(q, k)): the weights that `attention` gives its values before dropout,
/// [batch, (heads,) queries, keys]. For looking at them: attention itself does not store them. Keys
/// may have fewer heads, as there.
template <class Score>
constexpr Tensor attention_weights(Tensor q, Tensor k, Score&& score, const Mask& mask = {},
                                   Location location = Location::here()) {
    return detail::make_attention(q, k, {}, score, mask, {}, location);
}

}  // namespace fovea
