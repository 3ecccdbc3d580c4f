// Greedy decoding with a cache, as two programs over the parameters of `transformer`: the source is
// encoded once, then each step reads one token a sentence. Equal to the full forward pass.
#pragma once

#include "models/block_names.h"
#include "models/transformer.h"

namespace fovea::models {

/// What decoder blocks attend to, projected: `blockN.memory_keys` and `blockN.memory_values`, both
/// [batch, src_len, hidden].
constexpr void transformer_encode(Scope s, const TransformerSettings& c) {
    if (too_many_blocks(s, c.layers)) return;
    Tensor src = s.input("src", {"batch", c.src_len}, i32);
    Tensor src_lens = s.input("src_lens", {"batch"}, i32);
    Tensor memory = encode(s / "encoder", c, src, src_lens);
    for (int i = 0; i < c.layers; ++i) {
        Scope attention = s / "decoder" / "blks" / "block" + i;
        attention = attention / "attention2";
        s.output(kMemoryKeys[i], linear(attention / "W_k", memory, c.hidden, {.bias = false}));
        s.output(kMemoryValues[i], linear(attention / "W_v", memory, c.hidden, {.bias = false}));
    }
}

/// x [batch, 1, hidden] attends to keys and values [batch, length, hidden].
constexpr Tensor attend(Scope s, const TransformerSettings& c, Tensor x, Tensor keys, Tensor values,
                        Tensor lens) {
    Tensor q = split_heads(linear(s / "W_q", x, c.hidden, {.bias = false}), c.heads);
    Tensor k = split_heads(keys, c.heads), v = split_heads(values, c.heads);
    Tensor seen = attention(q, k, v, dot_product, padding(lens));
    return linear(s / "W_o", rearrange(seen, "b h t d -> b t (h d)"), c.hidden, {.bias = false});
}

/// One token of each sentence, all at `position`. The caches hold the rows of the positions before
/// and have room for `steps`.
constexpr void transformer_decode_step(Scope s, const TransformerSettings& c) {
    if (too_many_blocks(s, c.layers)) return;
    Tensor token = s.input("token", {"batch"}, i32);
    Tensor position = s.input("position", {1}, i32);
    Tensor src_lens = s.input("src_lens", {"batch"}, i32);
    Tensor lens = broadcast(position + 1, {"batch"});
    Tensor is_new = eq(iota(*s.graph, {"steps", 1}, 0), position);
    Scope decoder = s / "decoder";
    Tensor x = embedding(decoder / "embedding", token, c.tgt_vocab, c.hidden) * sqrt(c.hidden);
    x = unsqueeze(x + sinusoids_at(position, c.hidden), 1);
    for (int i = 0; i < c.layers; ++i) {
        Shape cached = {"batch", "steps", c.hidden}, memory = {"batch", c.src_len, c.hidden};
        Scope block = decoder / "blks" / "block" + i, own = block / "attention1";
        auto append = [&](const char* name, Tensor row) {
            Tensor cache = s.cache(name, cached), next = where(is_new, row, cache);
            s.update(cache, next);
            return next;
        };
        Tensor keys = append(kKeys[i], linear(own / "W_k", x, c.hidden, {.bias = false}));
        Tensor values = append(kValues[i], linear(own / "W_v", x, c.hidden, {.bias = false}));
        x = add_norm(block / "addnorm1", x, attend(own, c, x, keys, values, lens), 0);
        Tensor memory_keys = s.input(kMemoryKeys[i], memory);
        Tensor memory_values = s.input(kMemoryValues[i], memory);
        Tensor seen = attend(block / "attention2", c, x, memory_keys, memory_values, src_lens);
        x = add_norm(block / "addnorm2", x, seen, 0);
        Tensor y = position_wise_ffn(block / "ffn", x, c.ffn, c.hidden);
        x = add_norm(block / "addnorm3", x, y, 0);
    }
    s.output("logits", linear(decoder / "dense", squeeze(x, 1), c.tgt_vocab));
}

}  // namespace fovea::models
