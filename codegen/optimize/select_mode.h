// Training or evaluation: what dropout is.
#pragma once

#include "codegen/graph/graph.h"

namespace fovea {

/// Training: dropout is a product with `random`. Evaluation: it is gone, attention's too.
Graph select_mode(const Graph& graph, bool training);

}  // namespace fovea
