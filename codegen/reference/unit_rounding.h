// What activations lose where weights of whole numbers multiply them.
#pragma once

#include "codegen/graph/op_def.h"

namespace fovea {

/// The part of the largest value in its group that one may lose as a multiple of a unit
/// (runtime/cpu/quantized/digits.h).
inline constexpr double kLostOfFloats = 0x1.02p-23, kLostOfHalves = 0x1.02p-15;

/// Adds to `bound`, that of operand `number` of a product with a weight of whole numbers, what its
/// values may so lose. Nothing where it is the weight itself.
void add_unit_rounding(const Graph& graph, const Node& einsum, int number, const Array& value,
                       bool lies_in_halves, Array& bound);

}  // namespace fovea
