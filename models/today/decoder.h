// What the decoders of today share: attention over grouped heads at rotary positions, a gated
// feed-forward network, norms around both. Names are those of transformers' checkpoints, settings
// those of their `config.json`.
#pragma once

#include "models/today/heads.h"
#include "models/today/norms.h"

namespace fovea::models {

struct DecoderSettings {
    Dim vocab_size = {"vocab", 32000}, hidden_size = {"hidden", 4096},
        intermediate_size = {"ffn", 11008};
    Dim num_attention_heads = 32, num_key_value_heads = 8;
    Dim head_dim = 0;  // 0: hidden_size / num_attention_heads
    int num_hidden_layers = 32;
    int sliding_window = 4096;  // 0: none
    int pad_token_id = -1;  // -1: none
    double rms_norm_eps = 1e-6, rope_theta = 10000;
    double partial_rotary_factor = 1;  // the share of a head's features that is turned
    bool tie_word_embeddings = false;
    RotaryScaling rope_scaling = {};

    template <class Visit>
    constexpr void fields(Visit&& visit) {
        visit("vocab_size", vocab_size);
        visit("hidden_size", hidden_size);
        visit("intermediate_size", intermediate_size);
        visit("num_attention_heads", num_attention_heads);
        visit("num_key_value_heads", num_key_value_heads);
        visit("head_dim", head_dim);
        visit("num_hidden_layers", num_hidden_layers);
        visit("sliding_window", sliding_window);
        visit("pad_token_id", pad_token_id);
        visit("rms_norm_eps", rms_norm_eps);
        visit("rope_theta", rope_theta);
        visit("partial_rotary_factor", partial_rotary_factor);
        visit("tie_word_embeddings", tie_word_embeddings);
        visit("rope_type", rope_scaling.rope_type, {"default", "linear", "llama3", "yarn"});
        visit("factor", rope_scaling.factor);
        visit("original_max_position_embeddings", rope_scaling.original_max_position_embeddings);
        visit("low_freq_factor", rope_scaling.low_freq_factor);
        visit("high_freq_factor", rope_scaling.high_freq_factor);
        visit("beta_fast", rope_scaling.beta_fast);
        visit("beta_slow", rope_scaling.beta_slow);
        visit("attention_factor", rope_scaling.attention_factor);
    }
    constexpr Dim head_width() const {
        return head_dim == Dim(0) ? hidden_size.without_label() / num_attention_heads : head_dim;
    }
};

/// What a token sees: the last `sliding_window` tokens, itself among them, or all before.
constexpr Mask decoder_window(const DecoderSettings& c) {
    return c.sliding_window > 0 ? window(c.sliding_window - 1, 0) : causal;
}

/// What makes the gate of a feed-forward network: SwiGLU or GeGLU (Shazeer 2020).
enum class Gate { silu, gelu_tanh };

/// Where norms stand: before attention and feed-forward network, after each, or both.
enum class LayerNorms { before, after, both };

/// What is normalised of queries and keys: nothing, each head, or all heads together.
enum class HeadNorms { none, of_each, of_all };

/// In what layers of decoders differ.
struct DecoderForm {
    Mask mask = causal;
    LayerNorms norms = LayerNorms::before;
    bool norms_from_one = false;  // weights of norms are told from 1
    HeadNorms head_norms = HeadNorms::none;
    bool has_biases = false;   // of queries, keys and values
    bool is_fused = false;     // one weight of queries, keys and values, one of gate and values
    Gate gate = Gate::silu;
    double scale = 0;      // of scores; 0: 1 / √width
    double score_cap = 0;  // 0: none
};

/// cap · tanh(x / cap), between -cap and cap; x where `cap` is 0.
constexpr Tensor soft_cap(Tensor x, double cap) { return cap > 0 ? tanh(x / cap) * cap : x; }

constexpr Tensor decoder_norm(Scope s, const DecoderSettings& c, const DecoderForm& form,
                              Tensor x) {
    return form.norms_from_one ? rms_norm_from_one(s, x, c.rms_norm_eps)
                               : rms_norm(s, x, 1, c.rms_norm_eps);
}

/// x [batch, len, hidden], turned by `table` → the same shape.
constexpr Tensor decoder_attention(Scope s, const DecoderSettings& c, const DecoderForm& form,
                                   const RotaryTable& table, Tensor x) {
    const Dim heads = c.num_attention_heads, groups = c.num_key_value_heads;
    const Dim width = c.head_width();
    Tensor all = form.is_fused
                     ? linear(s / "qkv_proj", x, (heads + 2 * groups) * width, {.bias = false})
                     : Tensor{};
    Dim first = 0;  // of the features of `all` that are not taken
    const auto project = [&](const char* name, const Dim& count) {
        if (!form.is_fused) return linear(s / name, x, count * width, {.bias = form.has_biases});
        Tensor features = slice(all, -1, first, count * width);
        first = first + count * width;
        return features;
    };
    const auto turned = [&](const char* name, const char* norm, const Dim& count) {
        Tensor y = project(name, count);
        if (form.head_norms == HeadNorms::of_all) y = decoder_norm(s / norm, c, form, y);
        y = split_heads(y, count);
        if (form.head_norms == HeadNorms::of_each) y = decoder_norm(s / norm, c, form, y);
        return rotary(y, table);
    };
    const auto score = [&](Pair p) {
        Tensor product = form.scale > 0 ? dot(p.q, p.k) * form.scale : dot_product(p);
        return soft_cap(product, form.score_cap);
    };
    Tensor q = turned("q_proj", "q_norm", heads);
    Tensor k = turned("k_proj", "k_norm", groups);
    Tensor v = split_heads(project("v_proj", groups), groups);
    Tensor seen = merge_heads(attention(q, k, v, score, form.mask));
    return linear(s / "o_proj", seen, c.hidden_size, {.bias = false});
}

/// down(gate(x) * up(x)).
constexpr Tensor gated_ffn(Scope s, const DecoderSettings& c, const DecoderForm& form, Tensor x) {
    const auto project = [&](const char* name, const Dim& width) {
        return linear(s / name, x, width, {.bias = false});
    };
    std::array<Tensor, 2> both;
    if (form.is_fused)
        both = chunk<2>(project("gate_up_proj", 2 * c.intermediate_size.without_label()), -1);
    else
        both = {project("gate_proj", c.intermediate_size), project("up_proj", c.intermediate_size)};
    auto [gate, up] = both;
    gate = form.gate == Gate::silu ? silu(gate) : gelu_tanh(gate);
    return linear(s / "down_proj", gate * up, c.hidden_size, {.bias = false});
}

/// x and what attention and feed-forward network add to it.
constexpr Tensor decoder_layer(Scope s, const DecoderSettings& c, const DecoderForm& form,
                               const RotaryTable& table, Tensor x) {
    const auto norm = [&](bool is_there, const char* name, Tensor y) {
        return is_there ? decoder_norm(s / name, c, form, y) : y;
    };
    const bool before = form.norms != LayerNorms::after, after = form.norms != LayerNorms::before;
    Tensor y = norm(before, "input_layernorm", x);
    y = decoder_attention(s / "self_attn", c, form, table, y);
    x = x + norm(after, "post_attention_layernorm", y);
    y = norm(before, after ? "pre_feedforward_layernorm" : "post_attention_layernorm", x);
    y = gated_ffn(s / "mlp", c, form, y);
    return x + norm(after, "post_feedforward_layernorm", y);
}

constexpr Tensor decoder_embedding(Scope s, const DecoderSettings& c) {
    return embedding_table(s / "embed_tokens", c.vocab_size, c.hidden_size,
                           {.padding = c.pad_token_id});
}
constexpr Tensor decoder_look_up(Scope s, const DecoderSettings& c, Tensor words, Tensor ids) {
    return look_up(s / "embed_tokens", words, ids, c.pad_token_id);
}
constexpr RotaryTable decoder_positions(Scope s, const DecoderSettings& c) {
    const Dim width = c.head_width();
    RotaryOptions options = {.theta = c.rope_theta, .scaling = c.rope_scaling};
    if (width.is_static() && c.partial_rotary_factor != 1) {
        const double turned = double(width.value()) * c.partial_rotary_factor;
        Text text;
        text << "partial_rotary_factor should turn from 2 to " << width << " features of a head";
        if (turned >= 2 && turned <= double(width.value())) options.width = int(turned);
        else fail(*s.graph, Location::here(), s.id, text);
    }
    return rotary_table(s, "len", width, options);
}
/// x [batch, len, hidden] → logits, by the words themselves where the head is tied.
constexpr Tensor decoder_logits(Scope root, const DecoderSettings& c, Tensor words, Tensor x) {
    if (!c.tie_word_embeddings) return linear(root / "lm_head", x, c.vocab_size, {.bias = false});
    (root / "lm_head").tie("weight", words);
    return linear(x, words);
}

/// Inputs and outputs: text_inputs, text_outputs.
constexpr void decoder(Scope root, const DecoderSettings& c, const DecoderForm& form) {
    const TextInputs texts = text_inputs(root);
    Scope s = root / "model";
    Tensor words = decoder_embedding(s, c), x = decoder_look_up(s, c, words, texts.ids);
    const RotaryTable table = decoder_positions(s, c);
    for (int i = 0; i < c.num_hidden_layers; ++i)
        x = decoder_layer(s / "layers" / i, c, form, table, x);
    x = decoder_norm(s / "norm", c, form, x);
    text_outputs(root, texts, decoder_logits(root, c, words, x));
}

}  // namespace fovea::models
