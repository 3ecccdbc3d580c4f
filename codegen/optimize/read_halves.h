// Keys and values that lie as floats of 16 bits are read as they lie.
#pragma once

#include "codegen/graph/graph.h"

namespace fovea {

/// After it a fused attention reads keys and values in front of their casts to float32: its kernels
/// widen what they load, and no copy in float32 is stored.
Graph read_halves(const Graph& graph);

}  // namespace fovea
