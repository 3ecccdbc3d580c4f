// Kernels with loops over tiles for sizes at which every loop has one tile.
#pragma once

#include <map>
#include <optional>

#include "codegen/kernel/kernel.h"

namespace fovea::kernel {

/// Takes the blocks of loops over tiles out of the loops, with what is carried as it starts: there
/// is then no running maximum to rescale by, and sums begin with their first term. A loop without
/// a block stays in front for each axis, with the bound that all its tiles end at, if there is one.
/// Sums and their order are those of the loops. Returns how deep the axes' loops were, 1 for the
/// outermost; nothing, and leaves the kernel alone, where loops along an axis end differently.
std::optional<std::map<AxisId, int>> take_one_tile(Kernel& kernel);

}  // namespace fovea::kernel
