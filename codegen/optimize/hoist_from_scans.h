// Takes out of loops what need not be computed step by step.
#pragma once

#include "codegen/graph/graph.h"

namespace fovea {

/// Products, sums and what finishes them that do not depend on a state are computed before the
/// loop, for all steps at once: an LSTM's input projection is one product. Those that no state
/// depends on are computed behind it, from what the loop stores of each step: the gradients of its
/// weights are one product each.
Graph hoist_from_scans(const Graph& graph);

}  // namespace fovea
