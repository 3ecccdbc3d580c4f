// Puts the bodies of composites in their place.
#pragma once

#include "codegen/graph/op_def.h"

namespace fovea {

/// Every composite as primitives. Dropout becomes a product with `random`: run `select_mode` before
/// for evaluation.
Graph expand_composites(const Graph& graph);
/// Only those that `wanted` says (asked again of what a body consists of).
Graph expand_composites(const Graph& graph, bool (*wanted)(const Node& node));

}  // namespace fovea
