// What activations lose where weights of whole numbers multiply them.
#pragma once

#include "codegen/graph/op_def.h"

namespace fovea {

/// Adds to `bound`, that of operand `number` of a product with a weight of whole numbers, what its
/// values may lose as multiples of a unit (runtime/cpu/quantized/digits.h): 2^-15 of the largest
/// one in its group where they lie in halves, else 2^-23. Nothing where it is the weight itself.
void add_unit_rounding(const Graph& graph, const Node& einsum, int number, const Array& value,
                       bool lies_in_halves, Array& bound);

}  // namespace fovea
