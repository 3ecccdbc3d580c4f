// The score of one (query, key) pair as a graph of its own.
#pragma once

#include <string>
#include <vector>

#include "codegen/graph/graph.h"

namespace fovea {

/// A score function and its gradient, ordinary graphs without symbolic leaves of their own.
///
/// Inputs, those that are used: `query` and `key` [width]; `batch`, `head`, `query_index`,
/// `key_index`, i32 scalars; `capture0`, `capture1`, …: what the function reads from outside.
struct ScoreFunction {
    Graph forward;   // output `score`, a scalar
    Graph gradient;  // one more input, `score.grad`; outputs `query.grad`, `key.grad`, …
};

/// The region of an attention as a graph, and the nodes of `source` that it captures, in order.
struct ExtractedScore {
    Graph graph;
    std::vector<int> captured;
};
ExtractedScore extract_score(const Graph& source, int attention);

/// `capture2` → 2; -1 for any other name.
int capture_number(std::string_view name);

/// A score function that lives as long as the program, for nodes to point to.
const ScoreFunction* keep(ScoreFunction function);

}  // namespace fovea
