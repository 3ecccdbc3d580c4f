// Heads of attention, and the inputs and outputs of programs that say which token comes next: what
// models of different kinds share.
#pragma once

#include <fovea.h>

#include "models/multi_head_attention.h"

namespace fovea::models {

/// x [batch, len, ..] → [batch, heads, len, width]. Parameters `weight`, and `bias` where told.
constexpr Tensor project_heads(Scope s, Tensor x, Dim heads, Dim width, bool bias) {
    return split_heads(linear(s, x, heads * width, {.bias = bias}), heads);
}

/// [batch, heads, len, width] → [batch, len, heads · width]
constexpr Tensor merge_heads(Tensor seen) { return rearrange(seen, "b h t d -> b t (h d)"); }

/// The names of a layer's projections to queries, keys and values.
struct ProjectionNames {
    const char *q, *k, *v;
};

struct EncoderHeads {
    Dim count, hidden;
    double dropout = 0;  // of the attention weights
    bool bias = true;    // of the projections
};

/// What each position of x [batch, len, hidden] sees, the same shape, before the last projection.
constexpr Tensor encoder_attention(Scope s, const ProjectionNames& names, const EncoderHeads& heads,
                                   Tensor x, const Mask& mask = {}) {
    const Dim width = heads.hidden.without_label() / heads.count;
    Tensor q = project_heads(s / names.q, x, heads.count, width, heads.bias);
    Tensor k = project_heads(s / names.k, x, heads.count, width, heads.bias);
    Tensor v = project_heads(s / names.v, x, heads.count, width, heads.bias);
    return merge_heads(attention(q, k, v, dot_product, mask, {.dropout = heads.dropout}));
}

/// Tokens and the tokens that come after them, [batch, len], and how many there are, [batch].
struct TextInputs {
    Tensor ids, labels, lens;
};

constexpr TextInputs text_inputs(Scope s) {
    Tensor ids = s.input("ids", {"batch", "len"}, i32);
    Tensor labels = s.input("labels", {"batch", "len"}, i32);
    return {ids, labels, s.input("lens", {"batch"}, i32)};
}

/// Outputs `logits` [batch, len, vocab] and `loss` [batch], the mean over all steps of the cross
/// entropies of those inside the length.
constexpr void text_outputs(Scope s, const TextInputs& texts, Tensor logits) {
    s.output("logits", logits);
    s.output("loss", cross_entropy(logits, texts.labels, texts.lens));
}

}  // namespace fovea::models
