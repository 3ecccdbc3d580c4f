// Where one position attends, heads of queries that read one head of keys are rows of one tile.
#pragma once

#include <optional>
#include <string>

#include "codegen/ops/attention/fused_attention.h"

namespace fovea {

/// Why attention node `id`, with this score, takes each head of queries by itself; none: its query
/// is one, so that the heads which read the same keys may stand where queries do, and keys are read
/// once for all of them.
std::optional<std::string> why_not_heads_as_rows(const Graph& graph, int id,
                                                 const ScoreFunction& function);

/// Queries [batch, heads, 1, width] as [batch, groups, heads / groups, width].
Tensor heads_as_rows(Tensor q, const Dim& groups);
/// The other way around.
Tensor rows_as_heads(Tensor y);
/// The same mask for such rows: each of them sees what the query did.
Mask mask_of_rows(Mask mask);

}  // namespace fovea
