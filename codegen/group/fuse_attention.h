// Makes attention one kernel.
#pragma once

#include <string>
#include <vector>

#include "codegen/graph/graph.h"

namespace fovea {

/// Something that stayed as it was: the line of text says what, where, and why.
using Notes = std::vector<std::string>;

/// Every attention becomes a fused_attention where `why_not_fused_attention` has nothing to say;
/// its reasons go to `notes`. `simplify` and `differentiate` work on graphs of score functions.
Graph fuse_attention(const Graph& graph, Graph (*simplify)(const Graph&),
                     Graph (*differentiate)(const Graph&), Notes& notes);

}  // namespace fovea
