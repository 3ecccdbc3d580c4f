// The shape and dtype of a node, derived again from its inputs by the op's own shape rule.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "codegen/graph/graph.h"

namespace fovea {

/// The least and the largest number of inputs of a node.
std::pair<int, int> input_count(const Node& node);
/// What is wrong with the node's attributes, as `derive_node` relies on them.
std::optional<std::string> why_not_derivable(const Graph& graph, int id);
/// The node as its builder makes it: its shape and dtype are right. UserError when the rule
/// refuses.
Node derive_node(const Graph& graph, int id);

}  // namespace fovea
