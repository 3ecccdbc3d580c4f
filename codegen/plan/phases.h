// Which steps of a program may run side by side.
#pragma once

#include "codegen/plan/plan.h"

namespace fovea::plan {

/// Orders the steps by phases and sets `phase` and `round` of each. A step that reads what one of a
/// phase wrote, or writes what one of them touched, is put in a later phase; later steps that are
/// independent of it may run before it, past at most `passed_over` that wait. Steps that depend on
/// each other keep their order. What replicated steps write holds up no phase: steps that read it
/// are in a later round of the same one.
void form_phases(Program& program, const std::vector<kernel::Kernel>& kernels, int passed_over);

}  // namespace fovea::plan
