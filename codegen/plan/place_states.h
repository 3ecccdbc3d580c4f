// States are written in place: what a state becomes lies over what it was.
#pragma once

#include "codegen/plan/plan.h"
#include "codegen/plan/share_kernels.h"

namespace fovea::plan {

/// Sets `over` of every output that is a state: the parameter or input of its name. Steps are
/// ordered so that whatever reads the old value has run before the new one is stored, or reads each
/// element before it stores it. Where no order does, the new value goes to a buffer, and a last
/// step copies it.
void place_states(Program& program, KernelPool& kernels);

}  // namespace fovea::plan
