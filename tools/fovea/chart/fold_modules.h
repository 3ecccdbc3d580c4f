// Layers that compute the same, drawn once.
#pragma once

#include <vector>

#include "tools/fovea/chart/module_tree.h"

namespace fovea::tool {

/// Makes one module of neighbours whose names differ in a number and that compute the same
/// (`block0`, `block1`, …), with their count; of layers that take turns, one module of those of a
/// turn. What it reads and what is read of it is what the first and the last of them read and give;
/// what they hand to each other has no arrow. `group_of`: the kernel of each node, -1: none; layers
/// are the same where their kernels have the same nodes of them. Empty: there are no kernels yet.
void fold_modules(PictureModule& root, const std::vector<int>& group_of);

}  // namespace fovea::tool
