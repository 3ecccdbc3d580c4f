// Additive attention (Bahdanau et al. 2015, appendix A.1.2; d2l, "Attention Scoring Functions").
#pragma once

#include <fovea.h>

#include "models/valid_lens.h"

namespace fovea::models {

/// Queries and keys in the width of the score, and the score's vector.
struct AdditiveScore {
    Tensor queries, keys, w_v;

    constexpr Tensor operator()(Pair p) const { return dot(w_v, tanh(p.q + p.k)); }
};

/// Projects queries [batch, queries, ..] and keys [batch, keys, ..] to `hidden`. Parameters W_q,
/// W_k and w_v, without biases.
constexpr AdditiveScore additive_score(Scope s, Tensor queries, Tensor keys, Dim hidden) {
    Tensor q = linear(s / "W_q", queries, hidden, {.bias = false});
    Tensor k = linear(s / "W_k", keys, hidden, {.bias = false});
    return {q, k, squeeze((s / "w_v").parameter("weight", {1, hidden}), 0)};
}

/// Σ_k softmax_k(w_vᵀ tanh(W_q q + W_k k)) v_k → [batch, queries, value width].
constexpr Tensor additive_attention(Scope s, Tensor queries, Tensor keys, Tensor values,
                                    const Mask& mask, Dim hidden, double dropout = 0) {
    AdditiveScore score = additive_score(s, queries, keys, hidden);
    return attention(score.queries, score.keys, values, score, mask, {.dropout = dropout});
}

struct AdditiveAttentionSettings {
    Dim query_size = {"query_size", 20}, key_size = {"key_size", 2};
    Dim value_size = {"value_size", 4}, hidden = {"hidden", 8};

    template <class Visit>
    constexpr void fields(Visit&& visit) {
        visit("query_size", query_size);
        visit("key_size", key_size);
        visit("value_size", value_size);
        visit("hidden", hidden);
    }
};

constexpr void additive_attention(Scope s, const AdditiveAttentionSettings& c) {
    Tensor queries = s.input("queries", {"batch", "queries", c.query_size});
    Tensor keys = s.input("keys", {"batch", "keys", c.key_size});
    Tensor values = s.input("values", {"batch", "keys", c.value_size});
    Mask mask = padding(valid_lens_input(s, 1));
    AdditiveScore score = additive_score(s, queries, keys, c.hidden);
    s.output("output", attention(score.queries, score.keys, values, score, mask));
    s.output("weights", attention_weights(score.queries, score.keys, score, mask));
}

}  // namespace fovea::models
