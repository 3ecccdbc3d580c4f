// Tiles that a kernel computes more than once.
#pragma once

#include "codegen/kernel/kernel.h"

namespace fovea::kernel {

/// Equal tiles of one block become one: what a score and its gradient both make of a pair.
void share_tiles(Kernel& kernel);

}  // namespace fovea::kernel
