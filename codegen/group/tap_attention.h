// A graph whose outputs are the weights of its attentions.
#pragma once

#include "codegen/graph/graph.h"

namespace fovea {

/// Each attention's weights before dropout, [batch, (heads,) queries, keys], as the output
/// `<module>.weights` (a second one of a module: `<module>.weights2`), instead of the graph's own
/// outputs; of an attention in a loop all steps' queries. Nodes that they do not need stay.
Graph tap_attention(const Graph& graph);

/// Whether the graph has an attention to tap.
bool has_attention(const Graph& graph);

}  // namespace fovea
