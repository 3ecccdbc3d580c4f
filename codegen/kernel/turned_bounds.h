// Loop interchange: the bounds of a loop, as bounds of the axis that they depend on.
#pragma once

#include "codegen/kernel/kernel.h"

namespace fovea::kernel {

/// Bounds as those of a `tiles` loop; -1: the axis' first or last position.
struct Bounds {
    Id lower = -1, upper = -1;
};

/// A loop over `inner` goes from `lower` to `upper`, which depend on the position along `outer`:
/// queries from a key on, none for keys behind a sequence's end. Returns bounds of the positions
/// along `outer` that a position along `inner` can meet, as far as comparisons, sums, minima,
/// maxima and choices tell: every pair within the loop's bounds lies within these. Their nodes are
/// added to `block`, in which, or around which, everything that `is_known` holds for is in scope.
Bounds turned_bounds(Kernel& kernel, const Bounds& bounds, AxisId inner, AxisId outer,
                     const std::vector<bool>& is_known, std::vector<Id>& block);

}  // namespace fovea::kernel
