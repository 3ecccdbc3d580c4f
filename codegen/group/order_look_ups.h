// Tables that a score looks up by several indices, as its kernel reads them: by the head, then by
// one number.
#pragma once

#include <vector>

#include "codegen/graph/rewrite.h"
#include "codegen/ops/attention/fused_attention.h"

namespace fovea {

/// A score and what it captures, values of the graph that attention stands in.
struct CapturedScore {
    Graph graph;
    std::vector<Tensor> captures;
};

/// Rows of rows of a captured table, `gather(gather(table, i), j)` and deeper, become one look-up:
/// of a table whose first axis is that of the head, if the head is among the indices, and whose
/// next has the positions of all others. Such tables are made once, beside attention. Where a table
/// has too many elements, or a size that is not known, for one number, it stays as it is.
CapturedScore order_look_ups(const ExtractedScore& score, Rewrite& rewrite);

}  // namespace fovea
