// Gradients of convolutions are products over windows, too.
#pragma once

#include "codegen/graph/graph.h"

namespace fovea {

/// A sum of overlapping windows of a product, one operand of which has their positions and the
/// other their elements: sum_windows(b o p, o c j -> b c p j). At stride 1 it is a product over
/// windows of the padded first operand, with the elements of the second from the last to the first:
/// b o i j, o c j -> b c i. At other strides the product is stored with the positions innermost,
/// of which there are more than elements of a window. A slice of such a product is one of fewer
/// windows.
Graph sum_windows_into_einsum(const Graph& graph);

}  // namespace fovea
