// Hoists from loops what can be computed for all steps at once.
#pragma once

#include "codegen/graph/graph.h"

namespace fovea {

/// Products, sums and their epilogues that do not depend on a state are computed before the loop,
/// for all steps at once: an LSTM's input projection is one product. Those that no state depends on
/// are computed after it, from values that the loop stores at each step: the gradients of its
/// weights are one product each.
Graph hoist_from_scans(const Graph& graph);

}  // namespace fovea
