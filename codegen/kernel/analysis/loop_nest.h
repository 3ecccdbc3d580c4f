// The loops of a kernel that stand inside each other, flattened, with the nodes inside of them.
#pragma once

#include <vector>

#include "codegen/kernel/kernel.h"

namespace fovea::kernel {

/// `nodes` are all but the loops, in order.
struct LoopNest {
    std::vector<AxisId> each, par, seq;
    std::vector<AxisId> free;  // axes of tiles without a loop
    std::vector<Id> nodes;
    Id contract = -1;          // the product, the last one; -1: there is none
    std::vector<Id> before{};  // products before it, of the same rows and columns
};

/// Of a kernel without loops over tiles; throws InternalError when two loops stand side by side.
LoopNest loop_nest(const Kernel& kernel);

}  // namespace fovea::kernel
