// Tiles of one operand of a contraction, from global to shared memory.
#pragma once

#include "codegen/emit/nvptx/contraction/contraction_block.h"

namespace fovea::emit::nvptx {

class OperandTiles {
  public:
    /// `first`: the block's first position along the operand's own axis.
    OperandTiles(const ContractionBlock& block, const OperandPlan& operand, int tile_outer,
                 llvm::Value* first);

    /// Bytes of a tile in shared memory, a multiple of 16, of 1024 where it is swizzled.
    int bytes() const { return tile_rows() * row_bytes(); }
    bool is_asynchronous() const { return operand_.asynchronous; }
    /// How many values `begin` returns, unless the copies are asynchronous.
    int values() const { return pieces() * (operand_.in_pairs ? operand_.width / 2 : 1); }

    /// Starts to copy number `tile` (i64) of the tiles along the depth, which exists, to `to`:
    /// what it returns is to be given to `end`, which ends the copy unless it is asynchronous.
    Values begin(llvm::Value* tile, llvm::Value* to);
    void end(const Values& loaded, llvm::Value* to);

    /// The address of an element in the tile at `from`; `outer` and `depth` i32.
    llvm::Value* address(llvm::Value* from, llvm::Value* outer, llvm::Value* depth) const;
    bool depth_inside() const { return operand_.depth_inside; }
    int element_bytes() const { return block_.plan.element_bytes(); }
    /// Whether they are floats in shared memory that are to be tf32.
    bool must_be_rounded() const { return is_tf32() && operand_.asynchronous; }

  private:
    /// The elements that a thread copies at once, the first of them.
    struct Piece {
        llvm::Value *outer, *depth;  // in the tile, i32
    };

    bool is_tf32() const { return block_.plan.factors == kernel::Factors::tf32; }
    llvm::Value* swizzled(llvm::Value* outer, llvm::Value* depth) const;
    int tile_rows() const { return operand_.depth_inside ? tile_outer_ : tile_depth_; }
    int row_bytes() const;
    /// How many pieces of a tile each thread copies.
    int pieces() const;
    Piece piece(int number) const;
    /// Sets the positions of a piece, or of one that is in the operand; whether its depth is, null
    /// where it must be.
    llvm::Value* enter(const Piece& piece, llvm::Value* tile);
    /// Where the element at the current positions lies: of two products' columns, whose they are.
    llvm::Value* source() const;
    void copy(const Piece& piece, llvm::Value* inside, llvm::Value* to);
    llvm::Value* load(llvm::Value* inside);
    void begin_pairs(const Piece& piece, llvm::Value* tile, Values& loaded);
    void end_pairs(const Piece& piece, llvm::Value* const* loaded, llvm::Value* to);
    llvm::Value* in_memory_form(llvm::Value* loaded);

    const ContractionBlock& block_;
    Function& f_;
    llvm::IRBuilder<>& ir_;
    const OperandPlan& operand_;
    const kernel::Access& access_;
    int tile_outer_, tile_depth_;
    int own_outer_;  // positions of each product in a tile
    llvm::Value* first_;
    bool swizzled_;
    llvm::Value* is_second_ = nullptr;  // whether the piece is of the second product
};

}  // namespace fovea::emit::nvptx
