// The score of one (query, key) pair as a graph of its own.
#pragma once

#include <string>
#include <vector>

#include "codegen/graph/ports.h"

namespace fovea {

/// A score function and its gradient, ordinary graphs without symbolic leaves of their own.
///
/// Inputs, those that are used, by their ports: the query and the key [width]; the batch, the head
/// and the indices, i32 scalars; captures: what the function reads from outside.
struct ScoreFunction {
    Graph forward;   // output: the score, a scalar
    Graph gradient;  // one more input, the score's gradient; outputs: those of the inputs
};

/// The region of an attention as a graph, and the nodes of `source` that it captures, in order.
struct ExtractedScore {
    Graph graph;
    std::vector<int> captured;
};
ExtractedScore extract_score(const Graph& source, int attention);

/// A score function that lives as long as the program, for nodes to point to.
const ScoreFunction* keep(ScoreFunction function);

}  // namespace fovea
