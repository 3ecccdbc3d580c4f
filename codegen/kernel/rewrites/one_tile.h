// Kernels with loops over tiles for sizes at which every loop has one tile.
#pragma once

#include <map>
#include <optional>

#include "codegen/kernel/kernel.h"

namespace fovea::kernel {

/// Peels loops over tiles whose trip count is one: their blocks move out, carried values are the
/// initial ones, so that no running maximum rescales and sums begin with their first term. An empty
/// loop remains in front for each axis, with the upper bound that its tiles share, if any. Sums and
/// their order are those of the loops. Returns the depth of each axis' loop, 1 for the outermost;
/// none, and an unchanged kernel, where loops along an axis have different bounds.
std::optional<std::map<AxisId, int>> take_one_tile(Kernel& kernel);

}  // namespace fovea::kernel
