// OLMo 2 (OLMo team 2024): norms stand after attention and feed-forward network alone, and those of
// queries and keys take all heads together.
#pragma once

#include "models/today/decoder.h"

namespace fovea::models {

struct Olmo2Settings {
    DecoderSettings decoder = {
        .vocab_size = {"vocab", 50304}, .num_key_value_heads = 32, .rms_norm_eps = 1e-5};

    template <class Visit>
    constexpr void fields(Visit&& visit) {
        decoder.fields(visit);
    }
};

constexpr void olmo2(Scope s, const Olmo2Settings& settings) {
    decoder(s, settings.decoder, {.norms = LayerNorms::after, .head_norms = HeadNorms::of_all});
}

}  // namespace fovea::models
