// A model written by hand as the generator writes them, whose programs prepare parameters for each
// other.
#pragma once

#include <cstdint>

#include "runtime/program.h"

namespace fovea::test {

inline constexpr std::int64_t kSharedWidth = 1 << 14;

/// Parameters weight [width] and bias [width], both copied. Programs `first` and `second`: y
/// [batch] is the sum of what shared buffer 0 holds, 2 * weight; `third`: of buffer 1, 3 * bias.
const runtime::Model& shared_model();

/// How often a shared buffer was filled.
int fill_count();

}  // namespace fovea::test
