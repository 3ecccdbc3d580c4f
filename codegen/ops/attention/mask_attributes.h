// The mask among the attributes of masked softmax and attention.
#pragma once

#include <optional>
#include <string>

#include "codegen/ops/attention/mask.h"

namespace fovea::ops {

/// The mask of a node, whose inputs 3, 4 and 5 are `lens`, `allowed` and `segments`.
Mask mask_of(const Graph& graph, const Node& node, Tensor lens, Tensor allowed, Tensor segments);
/// The same of its inputs in another graph.
template <class Inputs>
Mask mask_of(const Graph& graph, const Node& node, const Inputs& inputs) {
    return mask_of(graph, node, inputs[3], inputs[4], inputs[5]);
}
/// ` causal lens`: what it hides by, its dropout.
std::string mask_text(const Graph& graph, const Node& node);
/// Why its inputs are not those of its mask.
std::optional<std::string> why_not_masked(const Graph& graph, int id);

}  // namespace fovea::ops
