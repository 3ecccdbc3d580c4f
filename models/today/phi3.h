// Phi-3 and Phi-4 (Abdin et al. 2024): queries, keys and values have one weight, the gate of the
// feed-forward network and its values another; of a head's features a share may be turned.
#pragma once

#include "models/today/decoder.h"

namespace fovea::models {

struct Phi3Settings {
    DecoderSettings decoder = {.vocab_size = {"vocab", 32064},
                               .hidden_size = {"hidden", 3072},
                               .intermediate_size = {"ffn", 8192},
                               .num_key_value_heads = 32,
                               .sliding_window = 0,
                               .rms_norm_eps = 1e-5};

    template <class Visit>
    constexpr void fields(Visit&& visit) {
        decoder.fields(visit);
    }
};

constexpr void phi3(Scope s, const Phi3Settings& settings) {
    const DecoderSettings& c = settings.decoder;
    decoder(s, c, {.mask = decoder_window(c), .is_fused = true});
}

}  // namespace fovea::models
