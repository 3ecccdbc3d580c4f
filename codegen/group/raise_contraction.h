// Raises spelled-out products, sums of broadcast products, to einsum.
#pragma once

#include <optional>
#include <string>

#include "codegen/graph/graph.h"

namespace fovea {

/// Sums of products of broadcast tensors become einsum where `why_not_contraction` has nothing
/// to say. Run it before `add_gradients`.
Graph raise_contraction(const Graph& graph);

/// Why a node, a sum, is not raised; nothing when it is.
std::optional<std::string> why_not_contraction(const Graph& graph, int id);

}  // namespace fovea
