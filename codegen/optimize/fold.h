// Local simplifications: constants, identities, rearrangements of rearrangements.
#pragma once

#include "codegen/graph/graph.h"

namespace fovea {

/// Simplifies node by node. It drops `stop_gradient`: run it after `add_gradients`.
Graph fold(const Graph& graph);

}  // namespace fovea
