// Which values of a plan are kept in arrays: what another statement reads.
#pragma once

#include <map>
#include <utility>

#include "codegen/emit/cpp/tiles/tile_axes.h"
#include "codegen/emit/cpp/tiles/tile_roots.h"

namespace fovea::emit {

/// The loop and the number in its block of the statement that computes a value.
using StatementOf = std::map<kernel::Id, std::pair<kernel::Id, int>>;

/// Fills `plan.arrays` for a plan whose statements are known.
void find_arrays(TilePlan& plan, const TileAxes& axes, const TileRoots& roots,
                 const StatementOf& statement_of);

}  // namespace fovea::emit
