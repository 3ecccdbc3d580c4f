// What one thread does at a time: the loops of points and of `par` tiles around it.
#pragma once

#include <vector>

#include "codegen/emit/cpp/tile_plan.h"

namespace fovea::emit {

/// The nodes of a task, in order: those around and inside of the loops of points and the `par`
/// loop, whose axes go into the plan. Throws TileRefusal.
std::vector<kernel::Id> take_task(TilePlan& plan, const std::vector<kernel::Id>& block);

}  // namespace fovea::emit
