// Raises exp(x - max) / sum, spelled out in plain ops, to softmax.
#pragma once

#include <optional>
#include <string>

#include "codegen/graph/graph.h"

namespace fovea {

/// Quotients of exp and its sum become softmax where `why_not_softmax` has nothing to say; softmax
/// of where(keep, x, -1e6 or less) over the last axis becomes masked_softmax.
Graph raise_softmax(const Graph& graph);

/// Why a node, a quotient, is not raised; nothing when it is.
std::optional<std::string> why_not_softmax(const Graph& graph, int id);

}  // namespace fovea
