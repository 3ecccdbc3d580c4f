// Gemma 3 (Gemma team 2025), the model of text: five of six layers see a window, the two kinds of
// layers have rotary positions of their own, and each head of queries and keys is normalised.
#pragma once

#include "models/today/gemma.h"

namespace fovea::models {

struct Gemma3Settings {
    GemmaSettings gemma = {.decoder = {.vocab_size = {"vocab", 262208},
                                       .hidden_size = {"hidden", 2304},
                                       .intermediate_size = {"ffn", 9216},
                                       .num_attention_heads = 8,
                                       .num_key_value_heads = 4,
                                       .head_dim = 256,
                                       .num_hidden_layers = 26,
                                       .rope_theta = 1000000,
                                       .tie_word_embeddings = true},
                           .attn_logit_softcapping = 0,
                           .final_logit_softcapping = 0,
                           .sliding_window_pattern = 6};
    double local_theta = 10000;

    template <class Visit>
    constexpr void fields(Visit&& visit) {
        gemma.fields(visit);
        RotaryScaling& scaling = gemma.decoder.rope_scaling;
        visit("rope_parameters.full_attention.rope_theta", gemma.decoder.rope_theta);
        visit("rope_parameters.full_attention.rope_type", scaling.rope_type, {"default", "linear"});
        visit("rope_parameters.full_attention.factor", scaling.factor);
        visit("rope_parameters.sliding_attention.rope_theta", local_theta);
    }
};

constexpr void gemma3(Scope s, const Gemma3Settings& settings) {
    gemma(s, settings.gemma,
          {.head_norms = HeadNorms::of_each, .local_theta = settings.local_theta});
}

}  // namespace fovea::models
