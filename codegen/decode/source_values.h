// What a step of decoding needs of the source that a model with an encoder reads.
#pragma once

#include <string>
#include <vector>

#include "codegen/decode/time_axis.h"

namespace fovea {

/// The input whose values do not change while a text goes on.
inline constexpr const char* kSource = "src";

struct SourceValues {
    std::vector<bool> kept;  // by node: made of the source before the first step, and read in each
    std::vector<bool> in_step;  // by node: computed by each step, or kept
};

/// Kept is what depends on an input `src`, has no positions and is read by what has some, or by
/// the score of its attention; the input itself is read where it is.
SourceValues find_source_values(const TimedGraph& timed);

/// Whether a model has an input `src`.
bool has_source(const Graph& model);

}  // namespace fovea
