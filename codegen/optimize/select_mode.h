// Training or evaluation: what dropout is, and what `when_training` chooses.
#pragma once

#include "codegen/graph/graph.h"

namespace fovea {

/// Training: dropout is a product with `random`. Evaluation: it is gone, attention's too.
/// A state that stays what it is in this mode is not stored.
Graph select_mode(const Graph& graph, bool training);

}  // namespace fovea
