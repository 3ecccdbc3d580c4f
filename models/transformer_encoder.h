// The Transformer's encoder: embedding, positions, blocks (d2l, "The Transformer Architecture").
#pragma once

#include <fovea.h>

#include "models/encoder_block.h"
#include "models/positional_encoding.h"

namespace fovea::models {

/// Embedding times √hidden, plus positions: ids [batch, length] → [batch, length, hidden].
constexpr Tensor embed(Scope s, const TransformerSettings& c, Tensor ids, Dim vocab) {
    Tensor x = embedding(s / "embedding", ids, vocab, c.hidden) * sqrt(c.hidden);
    return positional_encoding(x, c.dropout);
}

/// src [batch, src_len], src_lens [batch] → [batch, src_len, hidden]
constexpr Tensor encode(Scope s, const TransformerSettings& c, Tensor src, Tensor src_lens,
                        Location location = Location::here()) {
    if (c.norm_over == NormOver::tokens_and_features && !c.src_len.is_static()) {
        Text text;
        text << "norm_over=tokens_and_features has a weight for every token: src_len must be set";
        return fail(*s.graph, location, s.id, text);
    }
    Tensor x = embed(s, c, src, c.src_vocab);
    for (int i = 0; i < c.layers; ++i)
        x = encoder_block(s / "blks" / "block" + i, c, x, padding(src_lens));
    return x;
}

constexpr void transformer_encoder(Scope s, const TransformerSettings& c) {
    Tensor src = s.input("src", {"batch", c.src_len}, i32);
    Tensor src_lens = s.input("src_lens", {"batch"}, i32);
    s.output("output", encode(s, c, src, src_lens));
}

}  // namespace fovea::models
