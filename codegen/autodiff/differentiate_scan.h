// The gradient of a scan: another scan over the same steps, the other way.
#pragma once

#include <vector>

#include "codegen/graph/tensor.h"

namespace fovea {

/// All nodes of the scan that node `id` is a result of, ascending.
std::vector<int> nodes_of_scan(const Graph& graph, int id);

/// The gradients of the inputs that are wanted (by number), given those of the results (by number,
/// empty for none). The forward scan saves, as further results, products, sums and other costly
/// values of a step; elementwise ops and views are rematerialised.
std::vector<Tensor> differentiate_scan(Graph& graph, int id, const std::vector<Tensor>& cotangents,
                                       const std::vector<bool>& wanted);

}  // namespace fovea
