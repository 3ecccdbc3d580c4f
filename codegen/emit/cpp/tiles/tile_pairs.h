// Which sums of products of kernels in bfloat16 take two steps at once, and the statements that
// lay their operands out in pairs.
#pragma once

#include "codegen/emit/cpp/tiles/tile_plan.h"

namespace fovea::emit {

/// Fills `plan.pairs` and `plan.sums_of_pairs` of a plan that is complete otherwise, and adds the
/// statements; copies in floats that nothing reads any more go.
void plan_pairs(TilePlan& plan);

}  // namespace fovea::emit
