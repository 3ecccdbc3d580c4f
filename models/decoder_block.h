// A block of the Transformer's decoder: causal self-attention, attention to the encoder's output,
// and a feed-forward network, each followed by add & norm (Vaswani et al. 2017, section 3.1; d2l,
// "The Transformer Architecture").
#pragma once

#include <fovea.h>

#include "models/add_norm.h"
#include "models/multi_head_attention.h"
#include "models/position_wise_ffn.h"
#include "models/transformer_settings.h"

namespace fovea::models {

/// x [batch, length, hidden], memory [batch, memory length, hidden], which `mask` is about → x's
/// shape.
constexpr Tensor decoder_block(Scope s, const TransformerSettings& c, Tensor x, Tensor memory,
                               const Mask& mask) {
    HeadOptions heads = c.decoder_heads();
    Tensor y = multi_head_attention(s / "attention1", x, x, x, causal, heads);
    x = add_norm(s / "addnorm1", x, y, c.dropout);
    y = multi_head_attention(s / "attention2", x, memory, memory, mask, heads);
    x = add_norm(s / "addnorm2", x, y, c.dropout);
    y = position_wise_ffn(s / "ffn", x, c.ffn, c.hidden);
    return add_norm(s / "addnorm3", x, y, c.dropout);
}

constexpr void decoder_block(Scope s, const TransformerSettings& c) {
    Tensor x = s.input("x", {"batch", "len", c.hidden});
    Tensor memory = s.input("memory", {"batch", "memory_len", c.hidden});
    Tensor memory_lens = s.input("memory_lens", {"batch"}, i32);
    s.output("output", decoder_block(s, c, x, memory, padding(memory_lens)));
}

}  // namespace fovea::models
