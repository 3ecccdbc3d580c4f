// Rows are added to the sum that they are part of, and not to a table of zeros first.
#pragma once

#include "codegen/graph/graph.h"

namespace fovea {

/// A product, or a gradient of a loss, to which only rows of `scatter_add` are added is the table
/// that takes these rows: the gradient of a weight that is looked up and multiplied, too.
Graph scatter_onto_tables(const Graph& graph);

}  // namespace fovea
