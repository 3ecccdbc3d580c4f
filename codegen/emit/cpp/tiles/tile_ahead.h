// Memory that sums over tiles fetch before it is needed.
#pragma once

#include <vector>

#include "codegen/emit/cpp/tiles/tile_plan.h"

namespace fovea::emit {

/// Rows of a tile of memory: of the tile after the current one, or (`now`) of the current one.
struct RowsAhead {
    const kernel::Access* access = nullptr;
    Dim stride;  // from row to row
    int width = 0;       // elements of a row
    bool now = false;
};

/// What a sum with rows along `row` can fetch, row by row, in a kernel whose tasks are tiles: the
/// next tiles of what is loaded along `row`, and what the task will write along it.
std::vector<RowsAhead> rows_ahead(const TilePlan& plan, kernel::AxisId row);

}  // namespace fovea::emit
