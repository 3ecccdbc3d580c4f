// Which steps of a program may run side by side.
#pragma once

#include "codegen/plan/plan.h"

namespace fovea::plan {

/// Sets `phase` of every step: a step that reads what one of its phase wrote, or writes what one
/// of them touched, starts the next phase. Steps keep their order.
void set_phases(Program& program, const std::vector<kernel::Kernel>& kernels);

}  // namespace fovea::plan
