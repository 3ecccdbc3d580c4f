// The type of a node from its operands: the axes of its tile and its element type.
#pragma once

#include <vector>

#include "codegen/kernel/kernel.h"

namespace fovea::kernel {

/// Whether a function converts its operands to floats: all but sums, products, comparisons and
/// choices.
bool works_in_floats(Elementwise function);

/// The axes of the tile that `operation` makes, ascending. `points` are the axes of the `each` and
/// `seq` loops around it, whose positions are fixed. Stores and loops have none.
std::vector<AxisId> tile_axes(const Kernel& kernel, const Operation& operation,
                              const std::vector<AxisId>& points);

/// The element type of a load, map, random, reduce or contract: comparisons give booleans; i32 and
/// booleans that meet an f32 become f32; whole constants take the type of what they meet.
/// Constants and extents keep the type that they were made with.
DType tile_dtype(const Kernel& kernel, const Operation& operation, DType made_with);

/// The type in which the operands of `map` are read: the one that all of them convert to. The
/// condition of `where` is not among them.
DType operand_dtype(const Kernel& kernel, const Map& map);

}  // namespace fovea::kernel
