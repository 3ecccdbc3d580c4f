// Raises attention, spelled out in plain ops, to attention.
#pragma once

#include <optional>
#include <string>

#include "codegen/graph/graph.h"

namespace fovea {

/// Einsums of softmax(scores), perhaps masked, perhaps dropped out, with values become attention
/// where `why_not_attention` has nothing to say. The weights stay where they have other readers.
/// What comparisons of positions in an attention's boolean tensor say becomes its window and
/// lengths.
Graph raise_attention(const Graph& graph);

/// Why a node, a weighted sum, is not raised; nothing when it is.
std::optional<std::string> why_not_attention(const Graph& graph, int id);

}  // namespace fovea
