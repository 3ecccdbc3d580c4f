// The gradient of a value that is cut into slices is one concatenation.
#pragma once

#include "codegen/graph/graph.h"

namespace fovea {

/// A sum of padded values whose parts lie apart along one axis is the concatenation of these parts,
/// with zeros where none is.
Graph merge_pads(const Graph& graph);

}  // namespace fovea
