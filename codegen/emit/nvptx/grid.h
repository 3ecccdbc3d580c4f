// Points along several axes as one number: blocks of the grid, and positions from their number.
#pragma once

#include <vector>

#include "codegen/emit/nvptx/function.h"
#include "codegen/emit/ptx_module.h"

namespace fovea::emit::nvptx {

/// How many points there are, i64.
llvm::Value* count_of(Function& function, const std::vector<kernel::AxisId>& axes);

/// Sets the positions along the axes from the number of a point, the last axis fastest.
void set_positions(Function& function, const std::vector<kernel::AxisId>& axes,
                   llvm::Value* number);

/// At least ceil(points / tile) blocks, and none where there are no points.
std::vector<GridFactor> grid_of(const kernel::Kernel& kernel,
                                const std::vector<kernel::AxisId>& axes, std::int64_t tile);

}  // namespace fovea::emit::nvptx
