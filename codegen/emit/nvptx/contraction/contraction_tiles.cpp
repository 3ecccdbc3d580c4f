// A block's tile of a product: tiles of both operands pass through a ring of stages in shared
// memory while the sums gather in registers. The barriers of these kernels are all here, and the
// waits but for those of wgmma.
#include <llvm/IR/IntrinsicsNVPTX.h>

#include <algorithm>
#include <memory>

#include "codegen/emit/nvptx/contraction/contraction_epilogue.h"
#include "codegen/emit/nvptx/contraction/contraction_product.h"
#include "codegen/emit/nvptx/inline_asm.h"

namespace fovea::emit::nvptx {

using llvm::Value;

namespace {

class Tiles {
  public:
    explicit Tiles(const ContractionBlock& block)
        : block_(block),
          f_(block.f),
          ir_(block.f.ir()),
          plan_(block.plan),
          a_(block, plan_.a, plan_.tile_rows, block.first_row),
          b_(block, plan_.b, plan_.loaded_columns(), block.first_loaded_column),
          memory_(dynamic_shared(*block.f.llvm_function().getParent())),
          epilogue_(block, memory_) {
        if (plan_.form == ContractionForm::matrix)
            product_ = std::make_unique<MatrixProduct>(block, a_, b_);
        else if (plan_.form == ContractionForm::group)
            product_ = std::make_unique<GroupProduct>(block, a_, b_);
        else product_ = std::make_unique<ScalarProduct>(block, a_, b_);
    }

    int shared_bytes() const {
        return std::max(plan_.stages * (a_.bytes() + b_.bytes()), epilogue_.bytes());
    }

    void run() {
        const Values sums = sum_tiles();
        f_.barrier();  // no thread reads the stages any more
        epilogue_.store_sums(sums, product_->places());
        f_.barrier();  // all sums are there
        epilogue_.write_elements();
    }

  private:
    Value* stage(const OperandTiles& operand, Value* tile) {
        Value* number = ir_.CreateURem(ir_.CreateTrunc(tile, ir_.getInt32Ty()),
                                       ir_.getInt32(unsigned(plan_.stages)));
        const bool second = &operand == &b_;
        Value* bytes = ir_.CreateMul(number, ir_.getInt32(unsigned(operand.bytes())));
        const int before = second ? plan_.stages * a_.bytes() : 0;
        return at_byte(f_, memory_, ir_.CreateAdd(bytes, ir_.getInt32(unsigned(before))));
    }

    bool is_asynchronous() const { return a_.is_asynchronous() || b_.is_asynchronous(); }
    /// The copies since the last call are a group.
    void end_group() {
        if (is_asynchronous())
            ir_.CreateIntrinsic(llvm::Intrinsic::nvvm_cp_async_commit_group, {}, {});
    }
    /// All groups but the newest `left` have landed, those of this thread.
    void wait_for_groups(int left) {
        if (is_asynchronous())
            ir_.CreateIntrinsic(llvm::Intrinsic::nvvm_cp_async_wait_group, {},
                                {ir_.getInt32(unsigned(left))});
    }

    Values begin(Value* tile) {
        Values loaded = a_.begin(tile, stage(a_, tile));
        for (Value* value : b_.begin(tile, stage(b_, tile))) loaded.push_back(value);
        return loaded;
    }
    void end(const Values& loaded, Value* tile) {
        const bool first = !a_.is_asynchronous(), second = !b_.is_asynchronous();
        const std::ptrdiff_t half = first ? a_.values() : 0;
        if (first) a_.end({loaded.begin(), loaded.begin() + half}, stage(a_, tile));
        if (second) b_.end({loaded.begin() + half, loaded.end()}, stage(b_, tile));
    }

    /// The sums of all tiles along the depth. While one is multiplied, the next ones are on their
    /// way: to all other stages, but that of the tile before where its product may be under way.
    Values sum_tiles() {
        const int ahead = plan_.stages - (plan_.overlaps ? 2 : 1);
        Value* tiles = ir_.CreateUDiv(ir_.CreateAdd(block_.depth, f_.number(plan_.tile_depth - 1)),
                                      f_.number(plan_.tile_depth), "tiles");
        f_.loop(f_.number(0), f_.number(ahead), f_.number(1), [&](Value* tile) {
            f_.when(ir_.CreateICmpULT(tile, tiles), [&] { end(begin(tile), tile); });
            end_group();
        });
        const Values zeros(std::size_t(product_->sums()),
                           llvm::ConstantFP::get(ir_.getFloatTy(), 0));
        const Values all = f_.loop_carrying(
            f_.number(0), tiles, f_.number(1), zeros, [&](Value* tile, const Values& sums) {
                wait_for_groups(ahead - 1);
                if (product_->reads_by_itself()) write_asm(f_, "fence.proxy.async;");
                f_.barrier();  // the tile is there, and no thread reads the stage of `next`
                Value *a = stage(a_, tile), *b = stage(b_, tile);
                const Values started = product_->start(a, b, sums);
                Value* next = ir_.CreateAdd(tile, f_.number(ahead));
                Value* exists = ir_.CreateICmpULT(next, tiles);
                const Values loaded = values_when(f_, exists, [&] { return begin(next); });
                end_group();
                const Values added = product_->add(a, b, started);
                if (!loaded.empty()) f_.when(exists, [&] { end(loaded, next); });
                return added;
            });
        return product_->finish(all);
    }

    const ContractionBlock& block_;
    Function& f_;
    llvm::IRBuilder<>& ir_;
    const ContractionPlan& plan_;
    OperandTiles a_, b_;
    std::unique_ptr<TileProduct> product_;
    Value* memory_;
    TileEpilogue epilogue_;
};

}  // namespace

int write_tiles(const ContractionBlock& block) {
    Tiles tiles(block);
    tiles.run();
    return tiles.shared_bytes();
}

}  // namespace fovea::emit::nvptx
