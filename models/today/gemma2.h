// Gemma 2 (Gemma team 2024): every other layer sees a window, scores and logits are capped, and
// norms stand before and after attention and feed-forward network.
#pragma once

#include <vector>

#include "models/today/decoder.h"

namespace fovea::models {

enum class LayerType { sliding_attention, full_attention };

struct Gemma2Settings {
    DecoderSettings decoder = {.vocab_size = {"vocab", 256000},
                               .hidden_size = {"hidden", 2304},
                               .intermediate_size = {"ffn", 9216},
                               .num_attention_heads = 8,
                               .num_key_value_heads = 4,
                               .head_dim = 256,
                               .num_hidden_layers = 26,
                               .pad_token_id = 0,
                               .tie_word_embeddings = true};
    double query_pre_attn_scalar = 256;
    double attn_logit_softcapping = 50, final_logit_softcapping = 30;  // 0: none
    std::vector<LayerType> layer_types = {};  // empty: sliding and full ones in turn

    template <class Visit>
    constexpr void fields(Visit&& visit) {
        decoder.fields(visit);
        visit("query_pre_attn_scalar", query_pre_attn_scalar);
        visit("attn_logit_softcapping", attn_logit_softcapping);
        visit("final_logit_softcapping", final_logit_softcapping);
        visit("layer_types", layer_types, {"sliding_attention", "full_attention"});
    }
    constexpr bool slides(int layer) const {
        return layer_types.empty()
                   ? layer % 2 == 0
                   : layer_types[std::size_t(layer)] == LayerType::sliding_attention;
    }
};

/// rms_norm with a weight that is told from 1.
constexpr Tensor gemma_norm(Scope s, const DecoderSettings& c, Tensor x) {
    Tensor weight = s.parameter("weight", {x.dim(-1)}, Initial::zeros);
    return value_of(s, rms_norm(x, 1.0 + weight, c.rms_norm_eps));
}

/// Whether the settings fit each other; a sentence, where they do not.
constexpr bool has_fitting_settings(Scope root, const Gemma2Settings& settings) {
    const std::size_t listed = settings.layer_types.size();
    const int layers = settings.decoder.num_hidden_layers;
    Text text;
    if (listed && listed != std::size_t(layers))
        text << "layer_types has " << int(listed) << " layers, num_hidden_layers is " << layers;
    else if (!(settings.query_pre_attn_scalar > 0))
        text << "query_pre_attn_scalar must be above 0: scores are divided by its root";
    else if (settings.attn_logit_softcapping < 0 || settings.final_logit_softcapping < 0)
        text << "attn_logit_softcapping and final_logit_softcapping must be above 0, or 0 for none";
    else return true;
    fail(*root.graph, Location::here(), root.id, text);
    return false;
}

/// Inputs and outputs: text_inputs, text_outputs.
constexpr void gemma2(Scope root, const Gemma2Settings& settings) {
    const DecoderSettings& c = settings.decoder;
    if (!has_fitting_settings(root, settings)) return;
    const TextInputs texts = text_inputs(root);
    Scope s = root / "model";
    Tensor words = decoder_embedding(s, c);
    Tensor x = decoder_look_up(s, c, words, texts.ids) * sqrt(c.hidden_size);
    const RotaryTable table = decoder_positions(s, c);
    DecoderForm form = {.gate = Gate::gelu_tanh,
                        .scale = 1 / math::sqrt(settings.query_pre_attn_scalar),
                        .score_cap = settings.attn_logit_softcapping};
    for (int i = 0; i < c.num_hidden_layers; ++i) {
        Scope layer = s / "layers" / i;
        form.mask = settings.slides(i) ? window(c.sliding_window - 1, 0) : causal;
        Tensor y = gemma_norm(layer / "input_layernorm", c, x);
        y = decoder_attention(layer / "self_attn", c, form, table, y);
        x = x + gemma_norm(layer / "post_attention_layernorm", c, y);
        y = gemma_norm(layer / "pre_feedforward_layernorm", c, x);
        y = gated_ffn(layer / "mlp", c, form.gate, y);
        x = x + gemma_norm(layer / "post_feedforward_layernorm", c, y);
    }
    Tensor logits = decoder_logits(root, c, words, gemma_norm(s / "norm", c, x));
    text_outputs(root, texts, soft_cap(logits, settings.final_logit_softcapping));
}

}  // namespace fovea::models
