// What scores look up is made outside of them.
#pragma once

#include "codegen/graph/graph.h"

namespace fovea {

/// A table in a score that is made of values from outside alone, as `rearrange(bias, …)`, becomes
/// one of these values, which the score captures: it is not another one for every pair.
Graph hoist_tables(const Graph& graph);

}  // namespace fovea
