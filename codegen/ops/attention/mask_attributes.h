// The mask among the attributes of masked softmax and attention.
#pragma once

#include <optional>
#include <string>

#include "codegen/ops/attention/mask.h"

namespace fovea::ops {

/// The mask of a node, whose inputs 3 and 4 are `lens` and `allowed`.
Mask mask_of(const Graph& graph, const Node& node, Tensor lens, Tensor allowed);
/// ` causal lens`: what it hides by, its dropout.
std::string mask_text(const Graph& graph, const Node& node);
/// Why its inputs are not those of its mask.
std::optional<std::string> why_not_masked(const Graph& graph, int id);

}  // namespace fovea::ops
