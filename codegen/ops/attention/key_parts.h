// Keys in a fixed number of parts, each attended to by itself and joined behind them
// (Flash-Decoding: Dao, Haziza, Massa, Sizov 2023): tasks for more threads than there are heads,
// with bits that do not depend on how many threads there are.
#pragma once

#include "codegen/graph/node.h"
#include "codegen/graph/tensor.h"

namespace fovea {

/// Every part but the last has a multiple of so many keys: whole tiles.
inline constexpr int kPartUnit = 64;

/// The keys of a part, of `keys` (i32) that a row sees.
Tensor keys_of_part(Tensor keys, int parts);

/// Fused attention `whole`, a node of the same graph [batch, heads, queries, width], from `parts`
/// parts of its keys.
Tensor attention_by_parts(const Node& whole, Graph& graph, int parts);

}  // namespace fovea
