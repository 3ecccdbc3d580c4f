// One kernel for programs that need its statistics and for those that do not.
#pragma once

#include "codegen/plan/plan.h"

namespace fovea::plan {

/// A kernel may be another one but for statistics that this one stores besides: what attention and
/// normalizations store of each row for their gradients. The programs that run the former run the
/// latter from here on, without memory for statistics, and the former is gone: large kernels are
/// compiled once, for the price of a question a row.
void share_statistics(Model& model);

}  // namespace fovea::plan
