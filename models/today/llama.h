// Llama (Touvron et al. 2023; Llama 3 with `rope_type=llama3`).
#pragma once

#include "models/today/decoder.h"

namespace fovea::models {

constexpr void llama(Scope s, const DecoderSettings& c) { decoder(s, c, {}); }

}  // namespace fovea::models
