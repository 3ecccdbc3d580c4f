// What the decoders of today share: attention over grouped heads at rotary positions, a gated
// feed-forward network, norms before both. Names are those of transformers' checkpoints, settings
// those of their `config.json`.
#pragma once

#include <fovea.h>

namespace fovea::models {

struct DecoderSettings {
    Dim vocab_size = {"vocab", 32000}, hidden_size = {"hidden", 4096},
        intermediate_size = {"ffn", 11008};
    Dim num_attention_heads = 32, num_key_value_heads = 8;
    Dim head_dim = 0;  // 0: hidden_size / num_attention_heads
    int num_hidden_layers = 32;
    int sliding_window = 4096;
    double rms_norm_eps = 1e-6, rope_theta = 10000;
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
        visit("rms_norm_eps", rms_norm_eps);
        visit("rope_theta", rope_theta);
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

/// In what decoders differ.
struct DecoderForm {
    Mask mask = causal;
    bool norms_heads = false;  // rms_norm of each head of queries and keys
};

/// x [batch, len, hidden], turned by `table` → the same shape.
constexpr Tensor decoder_attention(Scope s, const DecoderSettings& c, const DecoderForm& form,
                                   const RotaryTable& table, Tensor x) {
    const auto project = [&](const char* name, const Dim& heads) {
        Tensor y = linear(s / name, x, heads * c.head_width(), {.bias = false});
        return rearrange(y, "b t (h d) -> b h t d", {"h", heads});
    };
    const auto turned = [&](const char* name, const char* norm, const Dim& heads) {
        Tensor y = project(name, heads);
        if (form.norms_heads) y = rms_norm(s / norm, y, 1, c.rms_norm_eps);
        return rotary(y, table);
    };
    Tensor q = turned("q_proj", "q_norm", c.num_attention_heads);
    Tensor k = turned("k_proj", "k_norm", c.num_key_value_heads);
    Tensor v = project("v_proj", c.num_key_value_heads);
    Tensor seen = rearrange(attention(q, k, v, dot_product, form.mask), "b h t d -> b t (h d)");
    return linear(s / "o_proj", seen, c.hidden_size, {.bias = false});
}

/// down(silu(gate(x)) * up(x)): SwiGLU (Shazeer 2020).
constexpr Tensor gated_ffn(Scope s, const DecoderSettings& c, Tensor x) {
    Tensor gate = linear(s / "gate_proj", x, c.intermediate_size, {.bias = false});
    Tensor up = linear(s / "up_proj", x, c.intermediate_size, {.bias = false});
    return linear(s / "down_proj", silu(gate) * up, c.hidden_size, {.bias = false});
}

/// Inputs `ids`, `labels` [batch, len] and `lens` [batch]; outputs `logits` [batch, len, vocab] and
/// `loss` [batch], the mean over all steps of the cross entropies of those inside the length.
constexpr void decoder(Scope root, const DecoderSettings& c, const DecoderForm& form) {
    Tensor ids = root.input("ids", {"batch", "len"}, i32);
    Tensor labels = root.input("labels", {"batch", "len"}, i32);
    Tensor lens = root.input("lens", {"batch"}, i32);
    Scope s = root / "model";
    Tensor words = embedding_table(s / "embed_tokens", c.vocab_size, c.hidden_size);
    Tensor x = look_up(s / "embed_tokens", words, ids);
    const RotaryTable table =
        rotary_table(s, "len", c.head_width(), {.theta = c.rope_theta, .scaling = c.rope_scaling});
    for (int i = 0; i < c.num_hidden_layers; ++i) {
        Scope layer = s / "layers" / i;
        Tensor y = rms_norm(layer / "input_layernorm", x, 1, c.rms_norm_eps);
        x = x + decoder_attention(layer / "self_attn", c, form, table, y);
        y = rms_norm(layer / "post_attention_layernorm", x, 1, c.rms_norm_eps);
        x = x + gated_ffn(layer / "mlp", c, y);
    }
    x = rms_norm(s / "norm", x, 1, c.rms_norm_eps);
    if (c.tie_word_embeddings) (root / "lm_head").tie("weight", words);
    Tensor logits = c.tie_word_embeddings
                        ? linear(x, words)
                        : linear(root / "lm_head", x, c.vocab_size, {.bias = false});
    root.output("logits", logits);
    root.output("loss", cross_entropy(logits, labels, lens));
}

}  // namespace fovea::models
