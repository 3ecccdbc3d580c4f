// A block of the Transformer's encoder: self-attention and a feed-forward network, each followed by
// add & norm (Vaswani et al. 2017, section 3.1; d2l, "The Transformer Architecture").
#pragma once

#include <fovea.h>

#include "models/add_norm.h"
#include "models/multi_head_attention.h"
#include "models/position_wise_ffn.h"
#include "models/transformer_settings.h"

namespace fovea::models {

/// x [batch, length, hidden] → the same.
constexpr Tensor encoder_block(Scope s, const TransformerSettings& c, Tensor x, const Mask& mask) {
    int axes = c.norm_over == NormOver::features ? 1 : 2;
    Tensor y = multi_head_attention(s / "attention", x, x, x, mask, c.encoder_heads());
    x = add_norm(s / "addnorm1", x, y, c.dropout, axes);
    y = position_wise_ffn(s / "ffn", x, c.ffn, c.hidden);
    return add_norm(s / "addnorm2", x, y, c.dropout, axes);
}

constexpr void encoder_block(Scope s, const TransformerSettings& c) {
    Tensor x = s.input("x", {"batch", "len", c.hidden});
    Tensor valid_lens = s.input("valid_lens", {"batch"}, i32);
    s.output("output", encoder_block(s, c, x, padding(valid_lens)));
}

}  // namespace fovea::models
