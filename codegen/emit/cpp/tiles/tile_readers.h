// Which statement of a plan reads a loaded tile first: a copy of the tile is made before it.
#pragma once

#include "codegen/emit/cpp/tiles/tile_plan.h"

namespace fovea::emit {

/// The number of the first statement of the loop's block (-1: the task's) that reads the load, in
/// an expression or in a loop inside; the number of statements if none does.
int first_reader(const TilePlan& plan, kernel::Id loop, kernel::Id load);

}  // namespace fovea::emit
