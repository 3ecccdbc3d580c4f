// When each tensor of a program is first written and last read.
#pragma once

#include "codegen/plan/plan.h"

namespace fovea::plan {

/// Sets `first` and `last` of every buffer, and `first` of every output, from the phases that touch
/// it. InternalError when a step reads a buffer that nothing has written.
void set_lifetimes(Program& program, const std::vector<kernel::Kernel>& kernels);

}  // namespace fovea::plan
