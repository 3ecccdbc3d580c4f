// Sums of products of two tiles in shared memory, in the registers of a block's threads.
#pragma once

#include "codegen/emit/nvptx/contraction/contraction_operand.h"

namespace fovea::emit::nvptx {

/// Elements of the product that lie side by side in one thread: `count` sums from number `first`
/// of the thread's on, at (row, column) of the block's tile, both i32.
struct SumsInPlace {
    int first, count;
    llvm::Value *row, *column;
};

/// A form of the product: which thread has which sums, and how two tiles are added to them.
class TileProduct {
  public:
    virtual ~TileProduct() = default;
    /// How many sums a thread has.
    virtual int sums() const = 0;
    /// Starts to add the products of the tiles at `a` and `b` to `sums`, which nothing may touch
    /// until `add` ends it, with what this returns.
    virtual Values start(llvm::Value*, llvm::Value*, Values sums) { return sums; }
    /// `sums` plus the products of the tiles at `a` and `b`.
    virtual Values add(llvm::Value* a, llvm::Value* b, Values sums) = 0;
    /// The sums once all products are done; `add` may have left the last one under way.
    virtual Values finish(Values sums) { return sums; }
    /// Whether the tensor cores read the tiles on a way of their own.
    virtual bool reads_by_itself() const { return false; }
    /// Where the sums belong.
    virtual std::vector<SumsInPlace> places() = 0;
};

/// Each thread has 4 x 4 or 8 x 8 elements, float32.
class ScalarProduct : public TileProduct {
  public:
    ScalarProduct(const ContractionBlock& block, const OperandTiles& a, const OperandTiles& b);
    int sums() const override { return row_groups_ * column_groups_ * 16; }
    Values add(llvm::Value* a, llvm::Value* b, Values sums) override;
    std::vector<SumsInPlace> places() override;

  private:
    /// Groups of four rows or columns, the parts of a tile from which a thread has one each.
    llvm::Value* group(llvm::Value* thread, int number, int parts, int tile) const;

    Function& f_;
    llvm::IRBuilder<>& ir_;
    const ContractionPlan& plan_;
    const OperandTiles &a_, &b_;
    int row_groups_, column_groups_;
    llvm::Value *thread_row_, *thread_column_;  // i32
};

/// Each warp has pieces of 16 x 8 elements, by mma.sync of halves or tf32 with float32 sums.
class MatrixProduct : public TileProduct {
  public:
    MatrixProduct(const ContractionBlock& block, const OperandTiles& a, const OperandTiles& b);
    int sums() const override { return row_pieces_ * column_pieces_ * 4; }
    Values add(llvm::Value* a, llvm::Value* b, Values sums) override;
    std::vector<SumsInPlace> places() override;

  private:
    /// The registers of four matrices of 8 positions along the outer axis and 16 bytes along the
    /// depth, from there on: two along each, in that order or, `along_depth`, the other way.
    Values four_matrices(const OperandTiles& tile, llvm::Value* from, llvm::Value* outer, int depth,
                         bool along_depth) const;
    Values read_matrices(const OperandTiles& tile, llvm::Value* from, llvm::Value* outer,
                         llvm::Value* depth, bool along_depth) const;
    Values read_elements(const OperandTiles& tile, llvm::Value* from, llvm::Value* outer,
                         llvm::Value* depth, bool along_depth) const;
    /// `number` in lanes whose number has the bit, 0 in the others.
    llvm::Value* where_bit(int bit, int number) const;
    llvm::Value* plus(llvm::Value* value, int number) const;

    Function& f_;
    llvm::IRBuilder<>& ir_;
    const ContractionPlan& plan_;
    const OperandTiles &a_, &b_;
    int depth_;  // of an instruction
    int row_pieces_, column_pieces_;
    llvm::Value *lane_, *first_row_, *first_column_;  // i32; of the warp
};

/// Each group of four warps has 64 rows and all columns, by wgmma of halves or tf32.
class GroupProduct : public TileProduct {
  public:
    GroupProduct(const ContractionBlock& block, const OperandTiles& a, const OperandTiles& b);
    int sums() const override { return plan_.tile_columns / 2; }
    Values start(llvm::Value* a, llvm::Value* b, Values sums) override;
    Values add(llvm::Value* a, llvm::Value* b, Values sums) override;
    Values finish(Values sums) override;
    bool reads_by_itself() const override { return true; }
    std::vector<SumsInPlace> places() override;

  private:
    /// The descriptor of a tile from position `first` along its outer axis on, and what it grows by
    /// for the next 32 bytes along the depth.
    llvm::Value* descriptor(const OperandTiles& tile, llvm::Value* from, llvm::Value* first) const;
    int step(const OperandTiles& tile) const;

    Function& f_;
    llvm::IRBuilder<>& ir_;
    const ContractionPlan& plan_;
    const OperandTiles &a_, &b_;
    llvm::Value *first_row_, *first_column_, *warp_in_group_, *lane_;  // i32, in the tiles
};

}  // namespace fovea::emit::nvptx
