// The gradient of a value that is cut into slices is one concatenation.
#pragma once

#include "codegen/graph/graph.h"

namespace fovea {

/// A sum of values that are zero but for a part of an axis, each another part, is the
/// concatenation of these parts.
Graph merge_pads(const Graph& graph);

}  // namespace fovea
