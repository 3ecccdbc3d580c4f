// How operands of attention come to shared memory: the fixed ones once, tiles of the moving ones in
// turns through two stages each. One thread starts the copies; two groups of warps read what they
// bring, and tell when a stage is free again. Where keys are needed before values, each of the two
// comes by itself; where scores and sums need both, the operands of a tile come together.
#pragma once

#include "codegen/emit/nvptx/attention/attention_group_plan.h"
#include "codegen/emit/nvptx/bulk_copies.h"
#include "codegen/emit/nvptx/function.h"

namespace fovea::emit::nvptx {

/// The entry's tensor maps are those of the fixed operands, then those of the moving ones.
class AttentionRing {
  public:
    /// Makes the barrier objects; the whole block must call it, and wait for each other before it
    /// calls anything else.
    AttentionRing(const AttentionGroupPlan& plan, Function& function);

    /// Copies the fixed operands from row `first` on, and the tiles of the moving ones, of which
    /// number `i` (i32) starts at position `start(i)` (i64). One thread calls it, where there are
    /// tiles.
    void bring_all(llvm::Value* first, llvm::Value* tiles,
                   const std::function<llvm::Value*(llvm::Value*)>& start);

    /// Waits until the fixed operands are there.
    void wait_for_fixed();
    /// Where fixed operand number `number` lies.
    llvm::Value* fixed_memory(std::size_t number);
    /// Where tile number `tile` of each moving operand lies; waits until all do.
    Values wait_for_all(llvm::Value* tile);
    /// The same of one that comes by itself.
    llvm::Value* wait_for(std::size_t number, llvm::Value* tile);
    /// This group has read the tile, of one operand or of all that come together: its first thread
    /// says so.
    void release(std::size_t party, llvm::Value* tile);
    void release_all(llvm::Value* tile);

    /// Fills with zeros the rows of a moving operand's tile from `row` on (i32), which is there.
    void clear(std::size_t number, llvm::Value* tile, llvm::Value* row);
    /// All groups that compute must call it, and then see what was cleared.
    void end_clearing();

  private:
    llvm::Value* integer(int value) { return f_.ir().getInt32(std::uint32_t(value)); }
    llvm::Value* stage(llvm::Value* tile);
    llvm::Value* parity(llvm::Value* tile);
    llvm::Value* full(int party, llvm::Value* tile);
    llvm::Value* empty(int party, llvm::Value* tile);
    llvm::Value* memory(std::size_t number, llvm::Value* tile);
    void bring(int map, const AttentionGroupPlan::Operand& operand, llvm::Value* row,
               llvm::Value* to, llvm::Value* barrier);
    void bring_party(int party, llvm::Value* tile, llvm::Value* row);

    const AttentionGroupPlan& plan_;
    Function& f_;
    llvm::Value* memory_;
    // Moving operands that come together are a party. Barrier objects: that of the fixed operands,
    // then of each party, one for each stage, those that say that it is full; then in the same
    // order those that say that it is empty.
    int parties_, first_empty_, count_;
    Barriers barriers_;
};

}  // namespace fovea::emit::nvptx
