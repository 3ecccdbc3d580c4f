// GPT-2 (Radford et al. 2019): a decoder with learned positions. Its weights lie [in, out]. Names
// are those of transformers' GPT2LMHeadModel.
#pragma once

#include "models/today/heads.h"

namespace fovea::models {

struct GPT2Settings {
    Dim vocab_size = {"vocab", 50257}, n_positions = {"positions", 1024}, n_embd = {"hidden", 768};
    Dim n_head = 12;
    Dim n_inner = 0;  // 0: 4 n_embd
    int n_layer = 12;
    double layer_norm_epsilon = 1e-5;
    double resid_pdrop = 0, embd_pdrop = 0, attn_pdrop = 0;

    template <class Visit>
    constexpr void fields(Visit&& visit) {
        visit("vocab_size", vocab_size);
        visit("n_positions", n_positions);
        visit("n_embd", n_embd);
        visit("n_head", n_head);
        visit("n_inner", n_inner);
        visit("n_layer", n_layer);
        visit("layer_norm_epsilon", layer_norm_epsilon);
        visit("resid_pdrop", resid_pdrop);
        visit("embd_pdrop", embd_pdrop);
        visit("attn_pdrop", attn_pdrop);
    }
};

/// x [batch, len, hidden] → the same shape.
constexpr Tensor gpt2_attention(Scope s, const GPT2Settings& c, Tensor x) {
    Tensor all = linear(s / "c_attn", x, 3 * c.n_embd.without_label(), {.in_out = true});
    auto [q, k, v] = chunk<3>(all, -1);
    for (Tensor* part : {&q, &k, &v}) *part = split_heads(*part, c.n_head);
    Tensor seen = merge_heads(attention(q, k, v, dot_product, causal, {.dropout = c.attn_pdrop}));
    return dropout(linear(s / "c_proj", seen, c.n_embd, {.in_out = true}), c.resid_pdrop);
}

constexpr Tensor gpt2_ffn(Scope s, const GPT2Settings& c, Tensor x) {
    const Dim inner = c.n_inner == Dim(0) ? 4 * c.n_embd.without_label() : c.n_inner;
    Tensor y = gelu_tanh(linear(s / "c_fc", x, inner, {.in_out = true}));
    return dropout(linear(s / "c_proj", y, c.n_embd, {.in_out = true}), c.resid_pdrop);
}

/// Inputs and outputs: text_inputs, text_outputs. `len` is at most n_positions.
constexpr void gpt2(Scope root, const GPT2Settings& c) {
    const TextInputs texts = text_inputs(root);
    Scope s = root / "transformer";
    Tensor words = embedding_table(s / "wte", c.vocab_size, c.n_embd);
    Tensor positions = embedding_table(s / "wpe", c.n_positions, c.n_embd);
    (root / "lm_head").tie("weight", words);
    Tensor x = look_up(s / "wte", words, texts.ids) + slice(positions, 0, 0, "len");
    x = dropout(x, c.embd_pdrop);
    for (int i = 0; i < c.n_layer; ++i) {
        Scope layer = s / "h" / i;
        Tensor y = layer_norm(layer / "ln_1", x, 1, c.layer_norm_epsilon);
        x = x + gpt2_attention(layer / "attn", c, y);
        y = layer_norm(layer / "ln_2", x, 1, c.layer_norm_epsilon);
        x = x + gpt2_ffn(layer / "mlp", c, y);
    }
    x = layer_norm(s / "ln_f", x, 1, c.layer_norm_epsilon);
    text_outputs(root, texts, linear(x, words));
}

}  // namespace fovea::models
