// Qwen3 (Qwen team 2025): each head of queries and keys is normalised before it is turned.
#pragma once

#include "models/today/decoder.h"

namespace fovea::models {

constexpr void qwen3(Scope s, const DecoderSettings& c) {
    decoder(s, c, {.head_norms = HeadNorms::of_each});
}

}  // namespace fovea::models
