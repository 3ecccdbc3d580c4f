// Multi-head attention (Vaswani et al. 2017, section 3.2.2; d2l, "Multi-Head Attention").
#pragma once

#include <fovea.h>

#include "models/valid_lens.h"

namespace fovea::models {

struct HeadOptions {
    Dim hidden, heads;
    double dropout = 0;  // of the attention weights
    bool bias = false;   // of the projections
};

/// [batch, length, hidden] → [batch, heads, length, hidden / heads]
constexpr Tensor split_heads(Tensor x, Dim heads) {
    return rearrange(x, "b t (h d) -> b h t d", {"h", heads});
}

/// Queries, keys and values of every head, [batch, heads, length, hidden / heads].
struct Heads {
    Tensor q, k, v;
};

/// Parameters W_q, W_k and W_v.
constexpr Heads project_heads(Scope s, Tensor queries, Tensor keys, Tensor values,
                              const HeadOptions& o) {
    auto project = [&](Scope part, Tensor x) {
        return split_heads(linear(part, x, o.hidden, {.bias = o.bias}), o.heads);
    };
    Tensor q = project(s / "W_q", queries), k = project(s / "W_k", keys);
    return {q, k, project(s / "W_v", values)};
}

/// What every head saw [batch, heads, length, width] → [batch, length, hidden]. Parameter W_o.
constexpr Tensor join_heads(Scope s, Tensor seen, const HeadOptions& o) {
    return linear(s / "W_o", rearrange(seen, "b h t d -> b t (h d)"), o.hidden, {.bias = o.bias});
}

/// Queries [batch, queries, ..], keys and values [batch, keys, ..] → [batch, queries, hidden].
constexpr Tensor multi_head_attention(Scope s, Tensor queries, Tensor keys, Tensor values,
                                      const Mask& mask, const HeadOptions& o) {
    Heads h = project_heads(s, queries, keys, values, o);
    return join_heads(s, attention(h.q, h.k, h.v, dot_product, mask, {.dropout = o.dropout}), o);
}

struct MultiHeadAttentionSettings {
    Dim query_size = {"query_size", 100}, key_size = {"key_size", 100};
    Dim value_size = {"value_size", 100}, hidden = {"hidden", 100};
    Dim heads = 5;
    bool bias = false;

    template <class Visit>
    constexpr void fields(Visit&& visit) {
        visit("query_size", query_size);
        visit("key_size", key_size);
        visit("value_size", value_size);
        visit("hidden", hidden);
        visit("heads", heads);
        visit("bias", bias);
    }
};

/// `weights` is [batch, heads, queries, keys].
constexpr void multi_head_attention(Scope s, const MultiHeadAttentionSettings& c) {
    Tensor queries = s.input("queries", {"batch", "queries", c.query_size});
    Tensor keys = s.input("keys", {"batch", "keys", c.key_size});
    Tensor values = s.input("values", {"batch", "keys", c.value_size});
    Mask mask = padding(valid_lens_input(s, 1));
    HeadOptions options = {.hidden = c.hidden, .heads = c.heads, .bias = c.bias};
    Heads h = project_heads(s, queries, keys, values, options);
    s.output("output", join_heads(s, attention(h.q, h.k, h.v, dot_product, mask), options));
    s.output("weights", attention_weights(h.q, h.k, dot_product, mask));
}

}  // namespace fovea::models
