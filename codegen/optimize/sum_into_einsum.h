// A sum over an axis of a product that both factors have is part of the product.
#pragma once

#include "codegen/graph/graph.h"

namespace fovea {

/// sum over t of (t b g, t b h -> t g h) becomes t b g, t b h -> g h.
Graph sum_into_einsum(const Graph& graph);

}  // namespace fovea
