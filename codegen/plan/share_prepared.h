// What programs prepare of one parameter alone, such as a weight in the order that kernels read it,
// stands in memory once.
#pragma once

#include "codegen/plan/plan.h"

namespace fovea::plan {

/// Numbers the tensors that programs without gradients prepare, that depend on nothing but one
/// parameter and the dims of parameters, and that have the schedule's `sharing.least_bytes`: those
/// with the same number hold the same, in whichever program. Programs with gradients keep their
/// own, since parameters move from call to call there. Says of each parameter whether there are
/// others that read nothing else of it, or look rows of it up besides (look_up_rows.h): their
/// kernels take these rows as they lie. Programs that read all of such a parameter have a list of
/// them.
void share_prepared(Model& model);

/// Whether any tensor has such a number.
bool has_shared(const Model& model);

/// Whether parameters had better stay in a file of weights, for programs that give no gradients:
/// there are some of which these read what is shared, or rows.
bool leaves_in_file(const Model& model);

}  // namespace fovea::plan
