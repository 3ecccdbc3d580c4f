// How many terms the sums of a graph have, on which depends how far two orders of them differ.
#pragma once

#include "codegen/graph/graph.h"
#include "tools/fovea/verify/sample_inputs.h"

namespace fovea::tool {

/// The terms of the longest sum of a graph at these sizes: of products, sums and maxima, means, and
/// rows that are added to a table; 1 where it adds up nothing.
double longest_sum(const Graph& graph, const SampleDims& dims);

}  // namespace fovea::tool
