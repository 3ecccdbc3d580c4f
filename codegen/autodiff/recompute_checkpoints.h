// What a checkpoint made is made again where the gradient reads it, instead of being kept.
//
// Chen, Xu, Zhang, Guestrin 2016, "Training Deep Nets with Sublinear Memory Cost".
#pragma once

#include <vector>

#include "codegen/graph/graph.h"

namespace fovea {

/// By node: the values of a checkpoint that nothing of the forward pass reads outside of it.
std::vector<bool> values_inside_checkpoints(const Graph& graph);

/// The graph of a gradient in which such values, as nodes of the gradient read them, are made again
/// (`Node::recomputed`), right before the first node that does, from what came into their
/// checkpoint. The same random numbers are drawn.
Graph recompute_checkpoints(const Graph& graph);

/// The same of any values, by node.
Graph make_again(const Graph& graph, const std::vector<bool>& values);

}  // namespace fovea
