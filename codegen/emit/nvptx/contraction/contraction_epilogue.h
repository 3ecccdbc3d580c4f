// From the sums of a tile, in the registers of a block's threads, to what the kernel stores: they
// go through shared memory, so that the epilogue runs along the rows, neighbouring threads on
// neighbouring columns.
#pragma once

#include "codegen/emit/nvptx/contraction/contraction_product.h"

namespace fovea::emit::nvptx {

class TileEpilogue {
  public:
    /// `memory`: shared, of `bytes()`.
    TileEpilogue(const ContractionBlock& block, llvm::Value* memory)
        : block_(block), f_(block.f), ir_(block.f.ir()), plan_(block.plan), memory_(memory) {}

    int bytes() const;
    /// Each of the plan's threads has sums in these places.
    void store_sums(const Values& sums, const std::vector<SumsInPlace>& places) const;
    /// Once all sums are there, the plan's threads make of them what the kernel stores.
    void write_elements() const;

  private:
    int row_floats() const;
    llvm::Value* sum_address(llvm::Value* row, llvm::Value* column) const;
    Values load_sums(llvm::Value* from, int count) const;

    const ContractionBlock& block_;
    Function& f_;
    llvm::IRBuilder<>& ir_;
    const ContractionPlan& plan_;
    llvm::Value* memory_;
};

}  // namespace fovea::emit::nvptx
