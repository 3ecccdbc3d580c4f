// Makes attention one kernel.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "codegen/graph/graph.h"

namespace fovea {

/// What was not fused, a line each: what, where, and why.
using Notes = std::vector<std::string>;

/// Why an attention that could be one kernel, with this score, is not fused; none: it is
/// fused.
using WhyNotHere = std::function<std::optional<std::string>(int id, const ScoreFunction&)>;

/// Every attention becomes a fused_attention where `why_not_fused_attention` has nothing to say,
/// nor `why_not_here`; their reasons go to `notes`. `simplify` and `differentiate` work on graphs
/// of score functions.
Graph fuse_attention(const Graph& graph, Graph (*simplify)(const Graph&),
                     Graph (*differentiate)(const Graph&), const WhyNotHere& why_not_here,
                     Notes& notes);

/// Where an attention is: `encoder.block0.attention (transformer.cpp:21)`
std::string place_of(const Graph& graph, const Node& node);

}  // namespace fovea
