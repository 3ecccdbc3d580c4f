// Qwen2 and Qwen2.5 (Qwen team 2024): queries, keys and values have biases.
#pragma once

#include "models/today/decoder.h"

namespace fovea::models {

constexpr void qwen2(Scope s, const DecoderSettings& c) { decoder(s, c, {.has_biases = true}); }

}  // namespace fovea::models
