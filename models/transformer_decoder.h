// The Transformer's decoder: embedding, positions, blocks, and a layer that gives the words' logits
// (d2l, "The Transformer Architecture"). It is causal in training, evaluation and decoding alike.
#pragma once

#include <fovea.h>

#include "models/decoder_block.h"
#include "models/transformer_encoder.h"

namespace fovea::models {

/// tgt [batch, tgt_len], memory [batch, src_len, hidden] → logits [batch, tgt_len, tgt_vocab]
constexpr Tensor decode(Scope s, const TransformerSettings& c, Tensor tgt, Tensor memory,
                        Tensor memory_lens) {
    Tensor x = embed(s, c, tgt, c.tgt_vocab);
    for (int i = 0; i < c.layers; ++i)
        x = decoder_block(s / "blks" / "block" + i, c, x, memory, padding(memory_lens));
    return linear(s / "dense", x, c.tgt_vocab);
}

constexpr void transformer_decoder(Scope s, const TransformerSettings& c) {
    Tensor tgt = s.input("tgt", {"batch", "tgt_len"}, i32);
    Tensor memory = s.input("memory", {"batch", c.src_len, c.hidden});
    Tensor memory_lens = s.input("memory_lens", {"batch"}, i32);
    s.output("logits", decode(s, c, tgt, memory, memory_lens));
}

}  // namespace fovea::models
