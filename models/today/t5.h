// T5 (Raffel et al. 2019; 1.1 with `feed_forward_proj=gated-gelu`): an encoder and a decoder whose
// scores know how far a key is from its query. Names are those of transformers'
// T5ForConditionalGeneration.
#pragma once

#include "models/today/heads.h"

namespace fovea::models {

enum class T5FeedForward { relu, gated_gelu };

struct T5Settings {
    Dim vocab_size = {"vocab", 32128}, d_model = {"d_model", 512}, d_ff = {"d_ff", 2048};
    Dim d_kv = 64, num_heads = 8;
    int num_layers = 6, num_decoder_layers = 0;  // 0: as many
    int relative_attention_num_buckets = 32, relative_attention_max_distance = 128;
    double layer_norm_epsilon = 1e-6, dropout_rate = 0;
    T5FeedForward feed_forward_proj = T5FeedForward::relu;
    bool tie_word_embeddings = true, scale_decoder_outputs = true;

    template <class Visit>
    constexpr void fields(Visit&& visit) {
        visit("vocab_size", vocab_size);
        visit("d_model", d_model);
        visit("d_ff", d_ff);
        visit("d_kv", d_kv);
        visit("num_heads", num_heads);
        visit("num_layers", num_layers);
        visit("num_decoder_layers", num_decoder_layers);
        visit("relative_attention_num_buckets", relative_attention_num_buckets);
        visit("relative_attention_max_distance", relative_attention_max_distance);
        visit("layer_norm_epsilon", layer_norm_epsilon);
        visit("dropout_rate", dropout_rate, in_training);
        visit("feed_forward_proj", feed_forward_proj, {"relu", "gated-gelu"});
        visit("tie_word_embeddings", tie_word_embeddings);
        visit("scale_decoder_outputs", scale_decoder_outputs);
    }
};

/// The bucket of a key `offset` (i32) steps behind its query: one for each of the nearest, then
/// wider ones, in steps of equal ratio up to the largest distance; other ones for keys behind,
/// where these are seen.
constexpr Tensor t5_bucket(const T5Settings& c, Tensor offset, bool both_sides) {
    const int all = c.relative_attention_num_buckets, count = both_sides ? all / 2 : all;
    const int exact = count / 2;
    Tensor steps = both_sides ? abs(offset) : maximum(-offset, 0);
    Tensor bucket = minimum(steps, exact);
    for (int k = 1; k < count - exact; ++k) {
        const double wider = double(c.relative_attention_max_distance) / exact;
        const double first = exact * math::pow(wider, double(k) / (count - exact));
        bucket = bucket + cast(steps >= int(first + 1 - 1e-9), i32);
    }
    return both_sides ? bucket + count * cast(offset > 0, i32) : bucket;
}

/// What a layer's attention adds to its scores by distance, if anything.
struct T5Distances {
    Tensor table{};  // [buckets, heads]
    bool both_sides = false;
};

/// x [batch, len, d_model], which attends to `memory` → the same shape.
constexpr Tensor t5_attention(Scope s, const T5Settings& c, Tensor x, Tensor memory,
                              const T5Distances& distances, const Mask& mask) {
    const auto score = [&](Pair p) {
        Tensor product = dot(p.q, p.k);
        if (!distances.table.exists()) return product;
        Tensor bucket = t5_bucket(c, p.j - p.i, distances.both_sides);
        return product + at(distances.table, {bucket, p.head});
    };
    Tensor q = project_heads(s / "q", x, c.num_heads, c.d_kv, false);
    Tensor k = project_heads(s / "k", memory, c.num_heads, c.d_kv, false);
    Tensor v = project_heads(s / "v", memory, c.num_heads, c.d_kv, false);
    Tensor seen = merge_heads(attention(q, k, v, score, mask, {.dropout = c.dropout_rate}));
    return linear(s / "o", seen, c.d_model, {.bias = false});
}

constexpr Tensor t5_feed_forward(Scope s, const T5Settings& c, Tensor x) {
    const bool gated = c.feed_forward_proj == T5FeedForward::gated_gelu;
    Tensor inner = linear(s / (gated ? "wi_0" : "wi"), x, c.d_ff, {.bias = false});
    inner = gated ? gelu_tanh(inner) * linear(s / "wi_1", x, c.d_ff, {.bias = false}) : relu(inner);
    return linear(s / "wo", dropout(inner, c.dropout_rate), c.d_model, {.bias = false});
}

/// x [batch, len, d_model] → the same shape; a decoder where there is a memory.
constexpr Tensor t5_stack(Scope s, const T5Settings& c, int layers, Tensor x, const Mask& own,
                          Tensor memory = {}, const Mask& memory_mask = {}) {
    Scope first = s / "block" / 0 / "layer" / 0 / "SelfAttention" / "relative_attention_bias";
    const T5Distances distances{
        first.parameter("weight", {c.relative_attention_num_buckets, c.num_heads}, Initial::normal),
        !memory.exists()};
    const auto drop = [&](Tensor y) { return dropout(y, c.dropout_rate); };
    const auto norm = [&](Scope part) { return rms_norm(part, x, 1, c.layer_norm_epsilon); };
    x = drop(x);
    for (int i = 0; i < layers; ++i) {
        Scope block = s / "block" / i / "layer", part = block / 0;
        Tensor y = norm(part / "layer_norm");
        x = x + drop(t5_attention(part / "SelfAttention", c, y, y, distances, own));
        if (memory.exists()) {
            part = block / 1;
            y = norm(part / "layer_norm");
            x = x + drop(t5_attention(part / "EncDecAttention", c, y, memory, {}, memory_mask));
        }
        part = block / (memory.exists() ? 2 : 1);
        x = x + drop(t5_feed_forward(part / "DenseReluDense", c, norm(part / "layer_norm")));
    }
    return drop(norm(s / "final_layer_norm"));
}

constexpr Tensor t5_logits(Scope s, const T5Settings& c, Tensor words, Tensor x) {
    if (c.scale_decoder_outputs) x = x / sqrt(c.d_model);
    if (!c.tie_word_embeddings) return linear(s / "lm_head", x, c.vocab_size, {.bias = false});
    (s / "lm_head").tie("weight", words);
    return linear(x, words);
}

/// Inputs `src` [batch, src_len], `src_lens` [batch], `tgt`, `labels` [batch, tgt_len], `tgt_lens`
/// [batch]; outputs as those of text_outputs.
constexpr void t5(Scope s, const T5Settings& c) {
    const int buckets = c.relative_attention_num_buckets;
    if (buckets < 4 || c.relative_attention_max_distance <= buckets / 2) {
        Text text;
        text << "relative_attention_num_buckets must be at least 4 and less than twice "
                "relative_attention_max_distance, got "
             << buckets << " and " << c.relative_attention_max_distance;
        return void(fail(*s.graph, Location::here(), s.id, text));
    }
    Tensor src = s.input("src", {"batch", "src_len"}, i32);
    Tensor src_lens = s.input("src_lens", {"batch"}, i32);
    Tensor tgt = s.input("tgt", {"batch", "tgt_len"}, i32);
    Tensor labels = s.input("labels", {"batch", "tgt_len"}, i32);
    Tensor tgt_lens = s.input("tgt_lens", {"batch"}, i32);
    Scope encoder = s / "encoder", decoder = s / "decoder";
    Tensor words = embedding_table(s / "shared", c.vocab_size, c.d_model);
    for (Scope part : {encoder, decoder}) (part / "embed_tokens").tie("weight", words);
    const Mask of_source = padding(src_lens);
    Tensor x = look_up(encoder, words, src);
    Tensor memory = t5_stack(encoder, c, c.num_layers, x, of_source);
    const int layers = c.num_decoder_layers ? c.num_decoder_layers : c.num_layers;
    x = t5_stack(decoder, c, layers, look_up(decoder, words, tgt), causal, memory, of_source);
    text_outputs(s, {tgt, labels, tgt_lens}, t5_logits(s, c, words, x));
}

}  // namespace fovea::models
