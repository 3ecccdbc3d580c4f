// Operands of matrix products of a block: from global memory, rounded to bfloat16, to shared
// memory, and from there to the registers of mma.sync.m16n8k16.
#pragma once

#include "codegen/emit/nvptx/function.h"
#include "codegen/emit/nvptx/tile_matrix_plan.h"

namespace fovea::emit::nvptx {

class TileMatrices {
  public:
    TileMatrices(const TileMatrixPlan& plan, Function& function);

    /// Copies a tile of an operand, of rows from `first` on; those from `end` on, all but the last,
    /// are copies of the last (i64).
    void copy(kernel::Id load, llvm::Value* first, llvm::Value* end);

    /// The 16 rows of this warp, 16 columns from `column` on: the first operand of a product.
    Values rows_of(kernel::Id load, int column);
    /// 16 columns of a product from `column` on, 16 positions of the sum from `depth` on: the
    /// second operand of two products, two registers each.
    Values columns_of(kernel::Id load, kernel::AxisId summed, int column, int depth);

  private:
    llvm::Value* address(kernel::Id load, llvm::Value* row, llvm::Value* column);
    llvm::Value* integer(int value) { return ir_.getInt32(std::uint32_t(value)); }

    const TileMatrixPlan& plan_;
    Function& f_;
    llvm::IRBuilder<>& ir_;
    llvm::Value *memory_, *lane_, *first_row_;
};

}  // namespace fovea::emit::nvptx
