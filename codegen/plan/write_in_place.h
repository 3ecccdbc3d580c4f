// Buffers that are written where one lies that is read for the last time.
#pragma once

#include "codegen/plan/plan.h"

namespace fovea::plan {

/// Sets `over` of buffers whose lifetimes are known: of one that a step writes first, a buffer of
/// the same shape that this step reads last, element by element (kernel::may_lie_over), and that no
/// other step of its phase touches. At most one buffer lies over each.
void write_in_place(Program& program, const std::vector<kernel::Kernel>& kernels);

}  // namespace fovea::plan
