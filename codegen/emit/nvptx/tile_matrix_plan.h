// Which kernels over tiles multiply matrices of bfloat16, and where their tiles lie: every tile is
// a part of (rows, columns), the rows along the `par` axis, 16 to a warp, the columns along any
// other axis. Tiles lie in the registers of mma.sync, operands that are loaded in shared memory.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "codegen/emit/nvptx/tile_plan.h"
#include "codegen/kernel/kernel.h"

namespace fovea::emit::nvptx {

struct TileMatrixPlan {
    kernel::Kernel kernel;  // after the rewrites
    std::vector<kernel::AxisId> points;
    kernel::AxisId rows = -1;       // the `par` axis
    std::vector<kernel::Id> task;   // nodes inside of the loops around everything
    int warps = 4;
    int tile_columns = 64;  // positions per tile of the loops

    /// A loaded operand of a contraction, [rows, columns] of bfloat16 in shared memory.
    struct Operand {
        kernel::AxisId row = -1, column = -1;
        kernel::Id home = -1;  // the loop with which it moves; -1: none
        int offset = 0;        // bytes
    };
    std::map<kernel::Id, Operand> operands;
    int shared_bytes = 0;

    int tile_rows() const { return warps * 16; }
    /// Positions of an axis that a block holds at once.
    int length(kernel::AxisId axis) const;
    /// Elements from row to row of an operand: neighbours lie in different banks.
    int row_step(const Operand& operand) const { return length(operand.column) + 8; }
};

/// Throws TileRefusal.
TileMatrixPlan plan_tile_matrices(const kernel::Kernel& kernel);

}  // namespace fovea::emit::nvptx
