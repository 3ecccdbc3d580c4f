// What Gemma 2 and 3 share: some layers see a window and others all tokens, norms with weights that
// are told from 1 stand before and after attention and feed-forward network, scores and logits may
// be capped.
#pragma once

#include <optional>
#include <vector>

#include "models/today/decoder.h"

namespace fovea::models {

enum class LayerType { sliding_attention, full_attention };

struct GemmaSettings {
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
    int sliding_window_pattern = 2;  // one of so many layers sees all tokens
    std::vector<LayerType> layer_types = {};  // empty: by the pattern

    template <class Visit>
    constexpr void fields(Visit&& visit) {
        decoder.fields(visit);
        visit("query_pre_attn_scalar", query_pre_attn_scalar);
        visit("attn_logit_softcapping", attn_logit_softcapping);
        visit("final_logit_softcapping", final_logit_softcapping);
        visit("sliding_window_pattern", sliding_window_pattern);
        visit("layer_types", layer_types, {"sliding_attention", "full_attention"});
    }
    constexpr bool slides(int layer) const {
        return layer_types.empty()
                   ? (layer + 1) % sliding_window_pattern != 0
                   : layer_types[std::size_t(layer)] == LayerType::sliding_attention;
    }
};

/// Whether the settings fit each other; a sentence, where they do not.
constexpr bool has_fitting_settings(Scope root, const GemmaSettings& settings) {
    const std::size_t listed = settings.layer_types.size();
    const int layers = settings.decoder.num_hidden_layers;
    Text text;
    if (listed && listed != std::size_t(layers))
        text << "layer_types has " << int(listed) << " layers, num_hidden_layers is " << layers;
    else if (settings.sliding_window_pattern < 1)
        text << "sliding_window_pattern is a number of layers, at least 1";
    else if (!(settings.query_pre_attn_scalar > 0))
        text << "query_pre_attn_scalar must be above 0: scores are divided by its root";
    else if (settings.attn_logit_softcapping < 0 || settings.final_logit_softcapping < 0)
        text << "attn_logit_softcapping and final_logit_softcapping must be above 0, or 0 for none";
    else return true;
    fail(*root.graph, Location::here(), root.id, text);
    return false;
}

/// In what both differ.
struct GemmaForm {
    HeadNorms head_norms = HeadNorms::none;
    std::optional<double> local_theta = {};  // of the layers with a window: that of the others
};

/// Inputs and outputs: text_inputs, text_outputs.
constexpr void gemma(Scope root, const GemmaSettings& settings, const GemmaForm& own) {
    const DecoderSettings& c = settings.decoder;
    if (!has_fitting_settings(root, settings)) return;
    const TextInputs texts = text_inputs(root);
    Scope s = root / "model";
    Tensor words = decoder_embedding(s, c);
    Tensor x = decoder_look_up(s, c, words, texts.ids) * sqrt(c.hidden_size);
    const RotaryTable table = decoder_positions(s, c);
    const RotaryTable local =
        own.local_theta ? rotary_table(s, "len", c.head_width(), {.theta = *own.local_theta})
                        : table;
    DecoderForm form = {.norms = LayerNorms::both,
                        .norms_from_one = true,
                        .head_norms = own.head_norms,
                        .gate = Gate::gelu_tanh,
                        .scale = 1 / math::sqrt(settings.query_pre_attn_scalar),
                        .score_cap = settings.attn_logit_softcapping};
    for (int i = 0; i < c.num_hidden_layers; ++i) {
        const bool slides = settings.slides(i);
        form.mask = slides ? window(c.sliding_window - 1, 0) : causal;
        x = decoder_layer(s / "layers" / i, c, form, slides ? local : table, x);
    }
    Tensor logits = decoder_logits(root, c, words, decoder_norm(s / "norm", c, form, x));
    text_outputs(root, texts, soft_cap(logits, settings.final_logit_softcapping));
}

}  // namespace fovea::models
