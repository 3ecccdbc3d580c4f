// The optimizer's kernels against the runtime's optimizer.
#pragma once

#include <vector>

#include "tools/fovea/device/targets.h"
#include "tools/fovea/verify/verify_kernels.h"

namespace fovea::tool {

/// Three steps of each optimizer on flat arrays of several sizes, clipped and not: a row for each,
/// whose error is that of the values and the state, relative to the largest.
std::vector<VerifyRow> verify_optimizer(const Target& target);

}  // namespace fovea::tool
