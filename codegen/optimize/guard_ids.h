// Ids, labels and lengths that a model computes, and that may be out of range.
#pragma once

#include "codegen/graph/graph.h"

namespace fovea {

/// Where an op reads such values (codegen/optimize/id_ranges.h), it gets the nearest that is in
/// range, so that no kernel leaves its table; and the values themselves become a check: stored, and
/// read after the run, which is then an error. Elements of inputs, which are checked before a run,
/// and what is in range for all sizes stay as they are. UserError for a table that a score looks up
/// by such an id: there is one for every pair.
Graph guard_ids(const Graph& graph);

}  // namespace fovea
