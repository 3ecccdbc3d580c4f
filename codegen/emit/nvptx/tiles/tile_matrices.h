// Operands of matrix products of a block: from global to shared memory, as halves, and from there
// to the registers of mma.sync.m16n8k16.
#pragma once

#include "codegen/emit/nvptx/function.h"
#include "codegen/emit/nvptx/tiles/tile_matrix_plan.h"

namespace fovea::emit::nvptx {

class TileMatrices {
  public:
    TileMatrices(const TileMatrixPlan& plan, Function& function);

    /// Copies a tile of an operand, of rows from `first` on; in place of those from `end` on there
    /// are zeros or copies of the last (i64). An asynchronous copy is started alone: it has landed,
    /// for this thread, after `wait_for_copies`.
    void copy(kernel::Id load, llvm::Value* first, llvm::Value* end);
    /// Asynchronous copies since the last call are a group.
    void end_group();
    /// All groups but the newest `left` have landed.
    void wait_for_copies(int left);

    /// Operands that move with a loop are read from the tile whose first position is `at` (i64).
    void enter_tile(llvm::Value* at);
    /// The 16 rows of this warp, 16 columns from `column` on: the first operand of a product.
    Values rows_of(kernel::Id load, int column);
    /// 16 columns of a product from `column` on, 16 positions of the sum from `depth` on: the
    /// second operand of two products, two registers each.
    Values columns_of(kernel::Id load, kernel::AxisId summed, int column, int depth);

  private:
    /// The pieces of 8 elements that a thread copies of a tile, one after the other.
    using Body = std::function<void(llvm::Value* row, llvm::Value* column)>;  // i32
    void over_pieces(const TileMatrixPlan::Operand& operand, const Body& body);
    void copy_through_registers(kernel::Id load, llvm::Value* first, llvm::Value* end);
    void start_copy(kernel::Id load, llvm::Value* first, llvm::Value* end);
    /// Bytes from the first tile of the operands with stages to that of the position `at`.
    llvm::Value* stage_of(llvm::Value* at);
    /// Element (row + more_rows, column + more_columns), of which `more_rows` is a multiple of 8;
    /// `more_columns` is 0, or a multiple of 16, and `column` then 0 or 8.
    llvm::Value* address(const TileMatrixPlan::Operand& operand, llvm::Value* stage,
                         llvm::Value* row, llvm::Value* column, int more_rows = 0,
                         int more_columns = 0);
    llvm::Value* integer(int value) { return ir_.getInt32(std::uint32_t(value)); }

    const TileMatrixPlan& plan_;
    Function& f_;
    llvm::IRBuilder<>& ir_;
    llvm::Value *memory_, *lane_, *first_row_;
    llvm::Value* stage_ = nullptr;  // bytes, i32; null: no tile has been entered
};

}  // namespace fovea::emit::nvptx
