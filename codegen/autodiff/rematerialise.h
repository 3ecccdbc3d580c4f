// Activations that are cheaper to make again than to keep for the gradient.
//
// Korthikanti et al. 2022, "Reducing Activation Recomputation in Large Transformer Models".
#pragma once

#include <vector>

#include "codegen/graph/graph.h"

namespace fovea {

/// By node of a graph of primitive ops with gradients: elementwise values of the forward pass,
/// gelu(u) or a normalised row, that the gradient reads in products alone, as it does for the
/// weight of the next layer. They are made of values that the gradient reads anyway beside a
/// product of its own, as it reads u for the gradient of u.
std::vector<bool> values_to_rematerialise(const Graph& graph);

/// Such values are made again for the gradient (`Node::recomputed`), and the forward pass keeps
/// none of them: the kernel that reads u then stores gelu(u), too.
Graph rematerialise(const Graph& graph);

}  // namespace fovea
