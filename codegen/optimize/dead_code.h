// Drops what no output needs.
#pragma once

#include "codegen/graph/graph.h"

namespace fovea {

/// Keeps outputs and what they depend on. Inputs and parameters stay.
Graph dead_code(const Graph& graph);

}  // namespace fovea
