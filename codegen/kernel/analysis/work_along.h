// Analysis of loops over tiles: which tiles of an axis take longest.
#pragma once

#include "codegen/kernel/kernel.h"

namespace fovea::kernel {

/// How the work at a position changes from the first position along an axis to the last.
enum class Work { even, rises, falls };

/// The work at a position along `axis`, which is how far the loops over tiles go there: under a
/// causal mask it rises along queries and falls along keys. `even` where the bounds do not tell:
/// lengths that are loaded for each position, a window of one width.
Work work_along(const Kernel& kernel, AxisId axis);

}  // namespace fovea::kernel
