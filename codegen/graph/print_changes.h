// What a pass changed: the lines of a graph that are gone, and those that have come.
#pragma once

#include <string>

#include "codegen/graph/graph.h"

namespace fovea {

/// `- ffn.dense1.add = add (…)` for a node that only `before` has, `+ …` for one that only `after`
/// has, in the order of the graphs, and a line that counts them. Nodes are named by module, op and
/// line of the model, not by numbers, which every pass moves. "unchanged" where all lines stay.
std::string print_changes(const Graph& before, const Graph& after);

}  // namespace fovea
