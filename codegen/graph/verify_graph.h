// What a legal graph is, as a check to run after every pass.
#pragma once

#include "codegen/graph/graph.h"

namespace fovea {

/// Inputs come before their uses, shapes and dtypes are what the shape rules say, attributes are in
/// range, regions are read only by their attention. InternalError naming the first wrong node.
void verify_graph(const Graph& graph);

}  // namespace fovea
