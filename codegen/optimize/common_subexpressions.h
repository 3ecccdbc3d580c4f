// Merges nodes that compute the same.
#pragma once

#include "codegen/graph/graph.h"

namespace fovea {

/// Equal ops on equal inputs with equal attributes become one node, the first.
Graph common_subexpressions(const Graph& graph);

}  // namespace fovea
