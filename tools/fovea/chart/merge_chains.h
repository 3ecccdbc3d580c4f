// Nodes that follow each other, drawn as the lines of one card.
#pragma once

#include <vector>

#include "tools/fovea/chart/module_tree.h"

namespace fovea::tool {

/// Puts a node into the next one (`PictureNode::before`) where that alone reads it, reads nothing
/// else, and stands in the same module. Inputs, attentions and scans stay alone, and so does what
/// the other pass keeps; a card has nodes of one kernel. A module of one card becomes that card.
void merge_chains(PictureModule& root, const Graph& graph, const std::vector<int>& kernel_of);

}  // namespace fovea::tool
