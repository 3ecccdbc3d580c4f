// Values that are equal but for rounding, told apart.
#pragma once

#include "codegen/graph/op_def.h"

namespace fovea {

/// Moves each value of an elementwise node that is rounded by up to one rounding of float32, by a
/// number that follows from the bits of its operands: the same numbers give the same value, and
/// others that give it in exact arithmetic, as x·a / x does for any x, do not. Whole numbers stay:
/// they are exact.
void scatter_roundings(const Node& node, std::span<const Array* const> operands, Array& result);

}  // namespace fovea
