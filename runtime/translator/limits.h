// The ranges of the translator's options beside those of all trainings.
#pragma once

#include "../trainer/limits.h"

namespace fovea::runtime {

inline constexpr std::int64_t kMostBeam = 4096;
inline constexpr std::int64_t kMostVocabulary = 1 << 24;

}  // namespace fovea::runtime
