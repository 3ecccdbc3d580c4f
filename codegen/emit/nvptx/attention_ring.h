// How operands of attention come to shared memory: the queries once, tiles of keys and of values
// in turns through two stages each. One thread starts the copies; two groups of warps read what
// they bring, and tell when a stage is free again.
#pragma once

#include "codegen/emit/nvptx/attention_group_plan.h"
#include "codegen/emit/nvptx/bulk_copies.h"
#include "codegen/emit/nvptx/function.h"

namespace fovea::emit::nvptx {

class AttentionRing {
  public:
    enum class Tile { keys, values };

    /// Makes the barrier objects; the whole block must call it, and wait for each other before it
    /// calls anything else.
    AttentionRing(const AttentionGroupPlan& plan, Function& function);

    /// Copies the queries from row `first` on, and the tiles of keys and values, of which number
    /// `i` (i32) starts at position `start(i)` (i64). One thread calls it, where there are tiles.
    void bring_all(llvm::Value* first, llvm::Value* tiles,
                   const std::function<llvm::Value*(llvm::Value*)>& start);

    /// Where the queries lie; of tile number `tile` the keys or values. Waits until they do.
    llvm::Value* wait_for_queries();
    llvm::Value* wait_for(Tile kind, llvm::Value* tile);
    /// This group has read the tile: its first thread says so.
    void release(Tile kind, llvm::Value* tile);

    /// Fills with zeros the rows of the values' tile from `row` on (i32); all groups that compute
    /// must call it, and then see them.
    void clear_values(llvm::Value* tile, llvm::Value* row);

  private:
    const AttentionGroupPlan::Operand& operand(Tile kind) const {
        return kind == Tile::keys ? plan_.keys : plan_.values;
    }
    llvm::Value* integer(int value) { return f_.ir().getInt32(std::uint32_t(value)); }
    llvm::Value* stage(llvm::Value* tile);
    llvm::Value* parity(llvm::Value* tile);
    llvm::Value* full(Tile kind, llvm::Value* tile);
    llvm::Value* empty(Tile kind, llvm::Value* tile);
    llvm::Value* memory(Tile kind, llvm::Value* tile);
    void bring(int map, const AttentionGroupPlan::Operand& operand, llvm::Value* row,
               llvm::Value* to, llvm::Value* barrier);

    const AttentionGroupPlan& plan_;
    Function& f_;
    llvm::Value* memory_;
    Barriers barriers_;
};

}  // namespace fovea::emit::nvptx
