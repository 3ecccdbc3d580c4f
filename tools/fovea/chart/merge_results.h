// The values that a loop over time gives, drawn as one node.
#pragma once

#include "tools/fovea/chart/module_tree.h"

namespace fovea::tool {

/// Makes one node of those of a module that are values of the same scan: the states after each
/// step and the results, which it names by their shapes. Those that the gradient asks for beside
/// are of the scan, too.
void merge_results(PictureModule& root, const Graph& graph);

}  // namespace fovea::tool
