// A graph as a picture: modules are boxes in boxes, arrows carry shapes.
#pragma once

#include <string>
#include <vector>

#include "codegen/graph/graph.h"

namespace fovea::tool {

/// An SVG picture. Parameters and constants stand in the node that reads them, the score of an
/// attention is a formula in its node, and of modules side by side that compute the same
/// (`block0`, `block1`) the first is drawn whole. `group_of` gives the kernel of each node, -1:
/// none; kernels of several nodes have a colour each. Empty: there are no kernels yet.
std::string graph_picture(const Graph& graph, const std::string& title,
                          const std::vector<int>& group_of = {});

}  // namespace fovea::tool
