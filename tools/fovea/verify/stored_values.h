// The values of nodes that a tensor's memory holds, wherever they lie in it.
#pragma once

#include <map>
#include <vector>

#include "codegen/fuse/fuse.h"
#include "codegen/reference/interpreter.h"

namespace fovea::tool {

/// The node whose memory a node of a plan's tensor is: what an output stores is the value that it
/// reads, or a rearrangement of it. -1 where there is none.
int base_of_tensor(const fuse::FusedGraph& fused, int node);

/// The values that lie in the memory of `base` and that kernels read from there: its own, and those
/// that its views were stored as, such as x where rearrange(x) is stored, or the parts of a
/// concatenation. `memory` has all elements of the base, in order.
std::map<int, Array> stored_values(const Graph& graph, const fuse::FusedGraph& fused, int base,
                                   const std::vector<double>& memory, const DimSizes& sizes);

}  // namespace fovea::tool
