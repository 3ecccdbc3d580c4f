// Which kernels over tiles multiply matrices of halves, and where their tiles lie: every tile is
// a part of (rows, columns), the rows along the `par` axis, 16 to a warp, the columns along any
// other axis. Tiles lie in the registers of mma.sync, operands that are loaded in shared memory.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "codegen/emit/nvptx/tiles/tile_plan.h"
#include "codegen/kernel/kernel.h"

namespace fovea::emit::nvptx {

struct TileMatrixPlan {
    kernel::Kernel kernel;  // after the rewrites
    std::vector<kernel::AxisId> points;
    kernel::AxisId rows = -1;       // the `par` axis
    std::vector<kernel::Id> task;   // nodes inside of the loops around everything
    target::Gpu target;
    DType half = DType::bf16;  // that products take
    int tile_columns = 0;  // positions per tile of the loops

    /// A loaded operand of a contraction, [rows, columns] of halves in shared memory.
    struct Operand {
        kernel::AxisId row = -1, column = -1;
        kernel::Id home = -1;  // the loop with which it moves; -1: none
        int offset = 0;        // bytes
        /// Why it passes through registers, as a clause; empty: it is copied by cp.async, 16 bytes
        /// at a time, the next tile of a loop while one is computed with.
        std::string why_not_asynchronous;
        bool in_registers = false;  // read once, as the first operand of products in a loop

        bool is_asynchronous() const { return why_not_asynchronous.empty(); }
        bool has_stages() const { return home >= 0 && is_asynchronous(); }
    };
    std::map<kernel::Id, Operand> operands;
    int stage_bytes = 0;  // from a tile of the operands with stages to the next
    int shared_bytes = 0;

    static constexpr int kStages = 2;

    int tile_rows() const { return target.matrices.warps * 16; }
    /// Positions of an axis that a block holds at once.
    int length(kernel::AxisId axis) const;
    /// Whether the pieces of 16 bytes of an operand's rows are exchanged by the row's number, which
    /// puts those of neighbouring rows into different banks; else rows are padded.
    bool is_swizzled(const Operand& operand) const { return length(operand.column) % 64 == 0; }
    /// Bytes from row to row of an operand, and of one tile of it.
    int row_bytes(const Operand& operand) const {
        return 2 * length(operand.column) + (is_swizzled(operand) ? 0 : 16);
    }
    int bytes(const Operand& operand) const { return length(operand.row) * row_bytes(operand); }
};

/// Throws kernel::TileRefusal.
TileMatrixPlan plan_tile_matrices(const kernel::Kernel& kernel, const target::Gpu& target);

/// `64 rows, tiles of 64 columns, 40960 bytes; query: at once, kept in registers; key: a tile
/// ahead; value: through registers, for its rows are no pieces of 16 bytes`
std::string print(const TileMatrixPlan& plan);

}  // namespace fovea::emit::nvptx
