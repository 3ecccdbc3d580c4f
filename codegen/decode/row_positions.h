// A step of decoding whose sequences are of different lengths.
#pragma once

#include <optional>
#include <string>

#include "codegen/graph/graph.h"

namespace fovea {

/// Why the sequences of a step cannot stand at positions of their own, the op that is in the way
/// with its line; none where they can. `step` reads `ids` or `tgt`, i32 [batch, 1], and an input
/// `position`, i32 [1].
std::optional<std::string> why_not_row_positions(const Graph& step);

/// The step with `position` i32 [batch], one for each sequence. UserError with the reason where
/// there is none.
Graph with_row_positions(const Graph& step);

}  // namespace fovea
