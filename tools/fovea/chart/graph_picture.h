// A graph as a picture: modules are boxes in boxes, arrows carry shapes.
#pragma once

#include <string>
#include <vector>

#include "codegen/graph/graph.h"

namespace fovea::tool {

/// Whether layers that compute the same are drawn once, with their count.
enum class RepeatedLayers { once, all };

/// An SVG picture. Parameters and constants stand in the node that reads them, and the score of an
/// attention is a formula in its node. The gradient of a module runs up beside its forward, and
/// names the values that forward keeps for it by number. `group_of` gives the kernel of each node,
/// -1: none; kernels of several nodes have a colour each. Empty: there are no kernels yet.
std::string graph_picture(const Graph& graph, const std::string& title,
                          const std::vector<int>& group_of = {},
                          RepeatedLayers layers = RepeatedLayers::once);

}  // namespace fovea::tool
