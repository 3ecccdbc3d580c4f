// "Attention is all you need" (Vaswani et al. 2017), as its usual PyTorch form has it: layer norm
// after embedding and positions and after each residual, masks from the ids of the padding, and one
// matrix for target words and logits where they are tied.
#pragma once

#include <fovea.h>

#include "models/multi_head_attention.h"
#include "models/positional_encoding.h"

namespace fovea::models {

/// What makes embeddings and logits of one size when they share a matrix: embeddings times
/// √d_model, or logits over √d_model.
enum class Scale { emb, prj, none };

struct PaperSettings {
    Dim src_vocab = "src_vocab", tgt_vocab = "tgt_vocab";
    Dim d_model = {"d_model", 512}, d_inner = {"d_inner", 2048};
    int layers = 6;
    Dim heads = 8, d_k = 64, d_v = 64;
    double dropout = 0.1;
    int pad = 1;
    Scale scale = Scale::emb;
    bool share_projection = true;  // the logits' matrix is that of the target embedding
    bool share_embeddings = false;  // source and target words are embedded by one matrix
    double label_smoothing = 0.1;
    MaskedRows masked_rows = MaskedRows::uniform;  // targets that begin with padding

    template <class Visit>
    constexpr void fields(Visit&& visit) {
        visit("src_vocab", src_vocab);
        visit("tgt_vocab", tgt_vocab);
        visit("d_model", d_model);
        visit("d_inner", d_inner);
        visit("layers", layers);
        visit("heads", heads);
        visit("d_k", d_k);
        visit("d_v", d_v);
        visit("dropout", dropout, in_training);
        visit("pad", pad);
        visit("scale", scale, {"emb", "prj", "none"});
        visit("share_projection", share_projection);
        visit("share_embeddings", share_embeddings);
        visit("label_smoothing", label_smoothing, in_training);
    }
};

namespace paper {

constexpr double kNormEps = 1e-6;

/// Layer norm of x + dropout(y). Parameters `layer_norm`.
constexpr Tensor add_norm(Scope s, const PaperSettings& c, Tensor x, Tensor y) {
    return layer_norm(s / "layer_norm", x + dropout(y, c.dropout), 1, kNormEps);
}

/// Where keys are words, for scores [batch, heads, queries, keys]: ids [batch, keys].
constexpr Mask words(const PaperSettings& c, Tensor ids) {
    return allowed(rearrange(logical_not(eq(ids, c.pad)), "b k -> b 1 1 k"));
}

/// [batch, keys, d_model] → [batch, keys, heads · d_k]. Parameter w_ks.
constexpr Tensor keys_of(Scope s, const PaperSettings& c, Tensor memory) {
    return linear(s / "w_ks", memory, c.heads * c.d_k, {.bias = false});
}
/// [batch, keys, d_model] → [batch, keys, heads · d_v]. Parameter w_vs.
constexpr Tensor values_of(Scope s, const PaperSettings& c, Tensor memory) {
    return linear(s / "w_vs", memory, c.heads * c.d_v, {.bias = false});
}

/// x [batch, queries, d_model] attends to keys and values. Parameters w_qs, fc and layer_norm.
constexpr Tensor attend_to(Scope s, const PaperSettings& c, Tensor x, Tensor keys, Tensor values,
                           const Mask& mask) {
    Tensor queries = linear(s / "w_qs", x, c.heads * c.d_k, {.bias = false});
    Tensor q = split_heads(queries, c.heads), k = split_heads(keys, c.heads);
    Tensor v = split_heads(values, c.heads);
    Tensor seen = attention(q, k, v, dot_product, mask, {.dropout = c.dropout});
    Tensor y =
        linear(s / "fc", rearrange(seen, "b h t d -> b t (h d)"), c.d_model, {.bias = false});
    return add_norm(s, c, x, y);
}

constexpr Tensor attend(Scope s, const PaperSettings& c, Tensor x, Tensor memory,
                        const Mask& mask) {
    Tensor keys = keys_of(s, c, memory), values = values_of(s, c, memory);
    return attend_to(s, c, x, keys, values, mask);
}

/// Parameters w_1, w_2 and layer_norm.
constexpr Tensor feed_forward(Scope s, const PaperSettings& c, Tensor x) {
    Tensor y = linear(s / "w_2", relu(linear(s / "w_1", x, c.d_inner)), c.d_model);
    return add_norm(s, c, x, y);
}

/// ids [batch, length] → [batch, length, d_model]. Parameters layer_norm.
constexpr Tensor embed(Scope s, const PaperSettings& c, Tensor table, Tensor ids) {
    Tensor x = look_up(s, table, ids, c.pad);
    if (c.scale == Scale::emb) x = x * sqrt(c.d_model);
    return layer_norm(s / "layer_norm", positional_encoding(x, c.dropout), 1, kNormEps);
}

/// src [batch, src_len], of which `mask` says what is seen → [batch, src_len, d_model].
constexpr Tensor encode(Scope s, const PaperSettings& c, Tensor table, Tensor src,
                        const Mask& mask) {
    Tensor x = embed(s, c, table, src);
    for (int i = 0; i < c.layers; ++i) {
        Scope layer = s / "layer_stack" / i;
        x = attend(layer / "slf_attn", c, x, x, mask);
        x = feed_forward(layer / "pos_ffn", c, x);
    }
    return x;
}

constexpr Tensor decode(Scope s, const PaperSettings& c, Tensor table, Tensor tgt, Tensor memory,
                        const Mask& memory_mask) {
    Tensor x = embed(s, c, table, tgt);
    const Mask own = (causal & words(c, tgt)).with(c.masked_rows);
    for (int i = 0; i < c.layers; ++i) {
        Scope layer = s / "layer_stack" / i;
        x = attend(layer / "slf_attn", c, x, x, own);
        x = attend(layer / "enc_attn", c, x, memory, memory_mask);
        x = feed_forward(layer / "pos_ffn", c, x);
    }
    return x;
}

/// The matrices of words: of the source, of the target, and of the logits; some may be one.
struct Tables {
    Tensor source, target, projection;
};

constexpr Tables make_tables(Scope s, const PaperSettings& c) {
    EmbeddingOptions options = {.initial = Initial::xavier_uniform, .padding = c.pad};
    Scope source = s / "encoder" / "src_word_emb", target = s / "decoder" / "trg_word_emb",
          projection = s / "trg_word_prj";
    Tables tables;
    tables.source = tables.target = embedding_table(source, c.src_vocab, c.d_model, options);
    if (c.share_embeddings) target.tie("weight", tables.source);
    else tables.target = embedding_table(target, c.tgt_vocab, c.d_model, options);
    tables.projection = tables.target;
    if (c.share_projection) projection.tie("weight", tables.target);
    else tables.projection = projection.parameter("weight", {c.tgt_vocab, c.d_model});
    return tables;
}

/// x [..., d_model] → [..., tgt_vocab]
constexpr Tensor logits_of(const PaperSettings& c, const Tables& tables, Tensor x) {
    Tensor logits = linear_product(x, tables.projection, Location::here());
    return c.scale == Scale::prj ? logits / sqrt(c.d_model) : logits;
}

/// One size for both vocabularies where their embeddings are one.
constexpr bool share_vocabulary(Scope s, PaperSettings& c) {
    if (!c.share_embeddings) return true;
    if (!c.src_vocab.is_static()) c.src_vocab = c.tgt_vocab;
    if (!c.tgt_vocab.is_static()) c.tgt_vocab = c.src_vocab;
    if (c.src_vocab == c.tgt_vocab) return true;
    Text text;
    text << "share_embeddings takes one vocabulary for both languages, not " << c.src_vocab
         << " and " << c.tgt_vocab;
    fail(*s.graph, Location::here(), s.id, text);
    return false;
}

}  // namespace paper

/// `loss` is the sum over the targets that are not padding, of label-smoothed cross entropies.
constexpr void attention_is_all_you_need(Scope s, const PaperSettings& settings) {
    PaperSettings c = settings;
    if (!paper::share_vocabulary(s, c)) return;
    Tensor src = s.input("src", {"batch", "src_len"}, i32);
    Tensor tgt = s.input("tgt", {"batch", "tgt_len"}, i32);
    Tensor labels = s.input("labels", {"batch", "tgt_len"}, i32);
    paper::Tables tables = paper::make_tables(s, c);
    Mask words = paper::words(c, src);
    Tensor memory = paper::encode(s / "encoder", c, tables.source, src, words);
    Tensor x = paper::decode(s / "decoder", c, tables.target, tgt, memory, words);
    Tensor logits = paper::logits_of(c, tables, x);
    s.output("logits", logits);
    s.output("loss", smoothed_cross_entropy(logits, labels, c.pad, c.label_smoothing));
}

/// The model as it is evaluated, without label smoothing, and as it is decoded: a position does not
/// depend on those behind it, though only padding stands before it.
constexpr void attention_is_all_you_need_evaluate(Scope s, const PaperSettings& settings) {
    PaperSettings c = settings;
    c.label_smoothing = 0;
    c.masked_rows = MaskedRows::zero;
    attention_is_all_you_need(s, c);
}

}  // namespace fovea::models
