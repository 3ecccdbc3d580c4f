// What programs prepare of one parameter alone, such as a weight in the order that kernels read it,
// stands in memory once.
#pragma once

#include "codegen/plan/plan.h"

namespace fovea::plan {

/// Numbers the tensors that programs without gradients prepare, that depend on nothing but one
/// parameter and the dims of parameters, and that have the schedule's `sharing.least_bytes`: those
/// with the same number hold the same, in whichever program. Programs with gradients keep their
/// own, since parameters move from call to call there. Says of each parameter whether the others
/// read nothing else of it.
void share_prepared(Model& model);

/// Whether any tensor has such a number.
bool has_shared(const Model& model);

}  // namespace fovea::plan
