// Gemma 2 (Gemma team 2024): every other layer sees a window, scores and logits are capped.
#pragma once

#include "models/today/gemma.h"

namespace fovea::models {

constexpr void gemma2(Scope s, const GemmaSettings& settings) { gemma(s, settings, {}); }

}  // namespace fovea::models
