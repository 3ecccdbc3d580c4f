// What a thread computes where tiles lie in the registers of products of matrices: it has, of
// every tile, two rows and two neighbouring columns out of eight, so that what one product leaves
// in its registers is what the next takes. Sums along columns are exchanged among the four threads
// of a row. A form says how products are taken and how a loop moves their operands.
#pragma once

#include <set>
#include <vector>

#include "codegen/emit/nvptx/block_order.h"
#include "codegen/emit/nvptx/function.h"
#include "codegen/emit/nvptx/tiles/tile_slots.h"
#include "codegen/kernel/kernel.h"

namespace fovea::emit::nvptx {

class TileFragments {
  public:
    virtual ~TileFragments() = default;

  protected:
    using Id = kernel::Id;
    using AxisId = kernel::AxisId;
    static constexpr int kRows = TileSlots::kRows, kQuad = TileSlots::kQuad;

    TileFragments(const kernel::Kernel& kernel, AxisId rows, Function& function);

    virtual void write_product(Id id) = 0;
    virtual void write_loop(Id id) = 0;
    /// All threads wait for each other.
    virtual void wait_for_block() { f_.barrier(); }

    const std::vector<AxisId>& axes(Id id) const { return kernel_.nodes[std::size_t(id)].axes; }
    llvm::Value* integer(int value) { return ir_.getInt32(std::uint32_t(value)); }
    AxisId column_of(Id id) const;
    bool has_rows(Id id) const;

    /// Sets the points of this block, and its rows, of which this thread has number `row` (i32) and
    /// the eighth after it.
    void find_block(const BlockOrder& order, llvm::Value* row);

    /// This thread's elements of a node's tile.
    Values values(Id id, DType dtype = DType::f32);
    void define(Id id, const Values& all);

    void write(const std::vector<Id>& block);
    void write_reduction(Id id);
    void write_store(const kernel::Store& store);

    /// The sum that a product alone is added to, which then starts its sums; else the product.
    Id sum_with(Id id);
    /// What the sums of a product of so many times eight columns start with: of every eight those
    /// of the first row, then those of the second.
    std::vector<Values> start_of(Id id, Id sum, int across);
    /// Such sums, one row after the other as `define` takes them.
    Values by_rows(const std::vector<Values>& sums);
    /// Values of rows times the summed axis, zero where there are none.
    Values factors_of(Id rows, AxisId summed);
    /// Such values as the first operands of products: four registers for each 16 of them.
    std::vector<Values> packed(const Values& factors);

    struct Range {
        llvm::Value *first = nullptr, *end = nullptr;  // i64
    };
    /// The positions that a loop goes over for any row of the block of so many warps; `first` is a
    /// multiple of `tile`, `end` not below it.
    Range range_of(const kernel::Loop& loop, int tile, int warps);
    /// The largest number of an i32 tile of the rows, or of none; of their negatives (i64).
    llvm::Value* largest(Id bound, bool negative, int warps);
    /// Those of carried value `number` among the values of all.
    Values carried_part(const kernel::Loop& loop, int number, const Values& all);
    void define_results(Id loop, const Values& carried);

    const kernel::Kernel& kernel_;
    const AxisId rows_;
    const DType half_;  // that products take
    Function& f_;
    llvm::IRBuilder<>& ir_;
    TileSlots slots_;
    std::vector<std::vector<Id>> users_;
    std::set<Id> done_;  // products and reductions that are known
    llvm::Value *first_row_ = nullptr, *in_quad_ = nullptr;

  private:
    /// Whether all products and reductions that a value is made of are known.
    bool can_make(Id id) const;
    /// The values, but `otherwise` past the end of the tile along `axis`, their column.
    Values existing(Values all, AxisId axis, llvm::Value* otherwise);
    void put(const kernel::Store& store, DType dtype);
    /// The largest of all threads' numbers, in all threads.
    llvm::Value* largest_of_block(llvm::Value* number, int warps);
};

}  // namespace fovea::emit::nvptx
