// The Transformer encoder-decoder of the d2l chapters: post-norm, sinusoidal positions, teacher
// forcing; the names of its parameters are those of the chapter's PyTorch code.
#pragma once

#include <fovea.h>

namespace fovea::models {

/// What layer norm runs over in the encoder.
enum class NormOver { features, tokens_and_features };

struct TransformerSettings {
    Dim src_vocab = "src_vocab", tgt_vocab = "tgt_vocab";
    Dim hidden = {"hidden", 256}, ffn = {"ffn", 64};
    Dim heads = 4;
    int layers = 2;
    double dropout = 0;
    bool bias = false;  // of the encoder's attention projections
    NormOver norm_over = NormOver::features;
    Dim src_len = "src_len";  // static for norm_over=tokens_and_features

    template <class Visit>
    constexpr void fields(Visit&& visit) {
        visit("src_vocab", src_vocab);
        visit("tgt_vocab", tgt_vocab);
        visit("hidden", hidden);
        visit("ffn", ffn);
        visit("heads", heads);
        visit("layers", layers);
        visit("dropout", dropout);
        visit("bias", bias);
        visit("norm_over", norm_over, {"features", "tokens_and_features"});
        visit("src_len", src_len);
    }
};

/// [batch, length, hidden] → [batch, heads, length, hidden / heads]
constexpr Tensor split_heads(Tensor x, Dim heads) {
    return rearrange(x, "b t (h d) -> b h t d", {"h", heads});
}

constexpr Tensor multi_head_attention(Scope s, const TransformerSettings& c, Tensor queries,
                                      Tensor memory, Mask mask, bool bias = false) {
    auto project = [&](Scope part, Tensor x) {
        return split_heads(linear(part, x, c.hidden, {.bias = bias}), c.heads);
    };
    Tensor q = project(s / "W_q", queries), k = project(s / "W_k", memory),
           v = project(s / "W_v", memory);
    Tensor seen = attention(q, k, v, dot_product, mask, {.dropout = c.dropout});
    return linear(s / "W_o", rearrange(seen, "b h t d -> b t (h d)"), c.hidden, {.bias = bias});
}

constexpr Tensor add_norm(Scope s, const TransformerSettings& c, Tensor x, Tensor y, int axes = 1) {
    return layer_norm(s / "ln", x + dropout(y, c.dropout), axes);
}

constexpr Tensor position_wise_ffn(Scope s, Tensor x, Dim ffn, Dim output) {
    return linear(s / "dense2", relu(linear(s / "dense1", x, ffn)), output);
}

constexpr Tensor encoder_block(Scope s, const TransformerSettings& c, Tensor x, Mask mask) {
    int axes = c.norm_over == NormOver::features ? 1 : 2;
    Tensor y = multi_head_attention(s / "attention", c, x, x, mask, c.bias);
    x = add_norm(s / "addnorm1", c, x, y, axes);
    return add_norm(s / "addnorm2", c, x, position_wise_ffn(s / "ffn", x, c.ffn, c.hidden), axes);
}

constexpr Tensor decoder_block(Scope s, const TransformerSettings& c, Tensor x, Tensor memory,
                               Mask mask) {
    x = add_norm(s / "addnorm1", c, x, multi_head_attention(s / "attention1", c, x, x, causal));
    x = add_norm(s / "addnorm2", c, x, multi_head_attention(s / "attention2", c, x, memory, mask));
    return add_norm(s / "addnorm3", c, x, position_wise_ffn(s / "ffn", x, c.ffn, c.hidden));
}

/// Embedding times √hidden, plus positions.
constexpr Tensor embed(Scope s, const TransformerSettings& c, Tensor ids, Dim vocab) {
    Tensor x = embedding(s / "embedding", ids, vocab, c.hidden) * sqrt(c.hidden);
    return dropout(x + sinusoids(x), c.dropout);
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

/// tgt [batch, tgt_len], memory [batch, src_len, hidden] → logits [batch, tgt_len, tgt_vocab]
constexpr Tensor decode(Scope s, const TransformerSettings& c, Tensor tgt, Tensor memory,
                        Tensor memory_lens) {
    Tensor x = embed(s, c, tgt, c.tgt_vocab);
    for (int i = 0; i < c.layers; ++i)
        x = decoder_block(s / "blks" / "block" + i, c, x, memory, padding(memory_lens));
    return linear(s / "dense", x, c.tgt_vocab);
}

constexpr void transformer_encoder(Scope s, const TransformerSettings& c) {
    Tensor src = s.input("src", {"batch", c.src_len}, i32);
    Tensor src_lens = s.input("src_lens", {"batch"}, i32);
    s.output("output", encode(s, c, src, src_lens));
}

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
