// A model written by hand as the generator writes them, whose programs prepare parameters for each
// other.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/program.h"
#include "tests/runtime/temporary_folder.h"

namespace fovea::test {

inline constexpr std::int64_t kSharedWidth = 1 << 14;

/// Parameters weight [width] and bias [width], both copied. Programs `first` and `second`: y
/// [batch] is the sum of what shared buffer 0 holds, 2 * weight; `third`: of buffer 1, 3 * bias.
const runtime::Model& shared_model();

/// The same where programs look rows of weight up, too. `fourth`: y [batch] is number 7 of weight.
const runtime::Model& looking_up_model();

/// Writes a file of weight, all `weight`, and bias, all 2, in float32 or bfloat16. Its path.
std::string write_shared_weights(const TemporaryFolder& folder, bool halves, float weight = 0.5F);

/// How often a shared buffer was filled.
int fill_count();

}  // namespace fovea::test
