// Rewrite: makes one axis of two neighbours wherever memory allows it, for long inner loops.
#pragma once

#include "codegen/kernel/kernel.h"

namespace fovea::kernel {

/// Collapses pairs (outer, inner) of axes while there are any: two `each` loops directly inside
/// each other, an `each` loop directly around a tile axis that is not reduced, two `par` loops, two
/// axes of one contraction or reduction. Every access and every random's row and column must have
/// stride(outer) == stride(inner) * extent(inner) or use neither, and no index may name either.
/// The names and order of buffers stay. Returns the number of pairs.
int collapse_axes(Kernel& kernel);

}  // namespace fovea::kernel
