// Qwen3 (Qwen team 2025): each head of queries and keys is normalised before it is turned.
#pragma once

#include "models/today/decoder.h"

namespace fovea::models {

constexpr void qwen3(Scope s, const DecoderSettings& c) { decoder(s, c, {.norms_heads = true}); }

}  // namespace fovea::models
