// Whether a graph does the same for each of its sequences, so that some of them can be run alone.
#pragma once

#include <optional>
#include <string>

#include "codegen/graph/graph.h"

namespace fovea {

/// The symbolic dim that the first input has in front, the number of sequences of a batch; 0 where
/// it has none.
Dim sequences_of(const Graph& graph);

/// The reason why a run cannot be cut into shards of its sequences, without a full stop. None: each
/// value that has the dim `sequences` has it once, and what stands at a sequence is made of that
/// sequence and of what all share; inputs and outputs have it first. The other outputs are float32
/// sums over the sequences, or linear in such sums: those of the shards add up to those of all.
std::optional<std::string> why_not_in_shards(const Graph& graph, Symbol sequences);

}  // namespace fovea
