// The Transformer encoder-decoder of the d2l chapters: post-norm, sinusoidal positions, teacher
// forcing; the names of its parameters are those of the chapter's PyTorch code.
#pragma once

#include <fovea.h>

#include "models/transformer_decoder.h"
#include "models/transformer_encoder.h"

namespace fovea::models {

constexpr void transformer(Scope s, const TransformerSettings& c) {
    Tensor src = s.input("src", {"batch", c.src_len}, i32);
    Tensor src_lens = s.input("src_lens", {"batch"}, i32);
    Tensor tgt = s.input("tgt", {"batch", "tgt_len"}, i32);
    Tensor labels = s.input("labels", {"batch", "tgt_len"}, i32);
    Tensor tgt_lens = s.input("tgt_lens", {"batch"}, i32);
    Tensor memory = encode(s / "encoder", c, src, src_lens);
    Tensor logits = decode(s / "decoder", c, tgt, memory, src_lens);
    s.output("logits", logits);
    s.output("loss", cross_entropy(logits, labels, tgt_lens));
}

}  // namespace fovea::models
