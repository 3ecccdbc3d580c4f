// Mistral (Jiang et al. 2023): each token sees the last `sliding_window` of them, itself among
// them.
#pragma once

#include "models/today/decoder.h"

namespace fovea::models {

constexpr void mistral(Scope s, const DecoderSettings& c) {
    decoder(s, c, {.mask = decoder_window(c)});
}

}  // namespace fovea::models
