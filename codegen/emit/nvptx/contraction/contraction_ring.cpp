// A block's tile of a product on sm_90: one thread starts copies of boxes of both operands into a
// ring of stages in shared memory, groups of four warps multiply them (wgmma). Barrier objects tell
// when a stage is full and when it is empty again: the copying thread runs ahead by itself.
#include <algorithm>

#include "codegen/emit/nvptx/bulk_copies.h"
#include "codegen/emit/nvptx/contraction/contraction_epilogue.h"
#include "codegen/emit/nvptx/contraction/contraction_product.h"
#include "codegen/emit/nvptx/inline_asm.h"
#include "codegen/emit/nvptx/tensor_map.h"

namespace fovea::emit::nvptx {

using llvm::Value;

namespace {

class Ring {
  public:
    explicit Ring(const ContractionBlock& block)
        : block_(block),
          f_(block.f),
          ir_(block.f.ir()),
          plan_(block.plan),
          a_(block, plan_.a, plan_.tile_rows, block.first_row),
          b_(block, plan_.b, plan_.loaded_columns(), block.first_loaded_column),
          product_(block, a_, b_),
          memory_(dynamic_shared(*block.f.llvm_function().getParent())),
          epilogue_(block, memory_),
          full_(f_, plan_.stages, "full"),
          empty_(f_, plan_.stages, "empty") {}

    int shared_bytes() const { return std::max(plan_.stages * stage_bytes(), epilogue_.bytes()); }

    void run() {
        make_barriers();
        Value* tiles = ir_.CreateUDiv(ir_.CreateAdd(block_.depth, f_.number(plan_.tile_depth - 1)),
                                      f_.number(plan_.tile_depth), "tiles");
        // Where there are more sums than leave room for all else in an equal share of three groups.
        const target::GpuContraction& target = plan_.settings.target.contraction;
        const bool shifts = product_.sums() >= target.many_sums && plan_.threads == 256;
        Value* copying = ir_.getInt32(unsigned(plan_.threads));
        f_.when(ir_.CreateICmpUGE(f_.thread(), copying), [&] {
            if (shifts) give_registers(f_, target.copying_registers);
            f_.when(ir_.CreateICmpEQ(f_.thread(), copying), [&] { copy_tiles(tiles); });
        });
        f_.when(ir_.CreateICmpULT(f_.thread(), copying), [&] {
            if (shifts) take_registers(f_, target.multiplying_registers);
            const Values sums = sum_tiles(tiles);
            wait_for_others();  // no group reads the stages any more
            epilogue_.store_sums(sums, product_.places());
            wait_for_others();  // all sums are there
            epilogue_.write_elements();
        });
    }

  private:
    int stage_bytes() const { return a_.bytes() + b_.bytes(); }

    /// Each warp that multiplies says that it has done with a stage.
    void make_barriers() {
        f_.when(ir_.CreateICmpEQ(f_.thread(), ir_.getInt32(0)), [&] {
            for (int i = 0; i < plan_.stages; ++i) {
                make_barrier(f_, full_.at(i), 1);
                make_barrier(f_, empty_.at(i), plan_.threads / kWarp);
            }
            publish_barriers(f_);
        });
        f_.barrier();
    }

    /// The threads that multiply wait for each other.
    void wait_for_others() { write_asm(f_, "bar.sync 1, " + std::to_string(plan_.threads) + ";"); }

    /// Which stage a tile has, and whether it is an even or an odd turn of the ring, i32.
    Value* stage(Value* tile) {
        return ir_.CreateTrunc(ir_.CreateURem(tile, f_.number(plan_.stages)), ir_.getInt32Ty());
    }
    Value* turn(Value* tile) {
        Value* turns = ir_.CreateUDiv(tile, f_.number(plan_.stages));
        return ir_.CreateTrunc(ir_.CreateAnd(turns, 1), ir_.getInt32Ty());
    }
    Value* place(const OperandTiles& operand, Value* stage) {
        const int before = &operand == &b_ ? plan_.stages * a_.bytes() : 0;
        Value* bytes = ir_.CreateMul(stage, ir_.getInt32(unsigned(operand.bytes())));
        return at_byte(f_, memory_, ir_.CreateAdd(bytes, ir_.getInt32(unsigned(before))));
    }

    /// One thread: waits until a stage is empty, which it is in the first turn, and fills it.
    void copy_tiles(Value* tiles) {
        f_.loop(f_.number(0), tiles, f_.number(1), [&](Value* tile) {
            Value* at = stage(tile);
            wait_for_phase(f_, empty_.at(at), ir_.CreateXor(turn(tile), 1));
            arrive_expecting(f_, full_.at(at), stage_bytes());
            Value* depth = ir_.CreateMul(tile, f_.number(plan_.tile_depth));
            copy(0, a_, *plan_.a.boxes, plan_.a, block_.first_row, depth, at, 0, a_.bytes());
            const bool is_one = plan_.before < 0;
            const int bytes = is_one ? b_.bytes() : b_.bytes() / 2;
            copy(1, b_, *plan_.b.boxes, plan_.b, block_.first_loaded_column, depth, at, 0, bytes);
            if (!is_one)
                copy(2, b_, *plan_.b.second_boxes, plan_.b, block_.first_column, depth, at, bytes,
                     bytes);
        });
    }

    /// All boxes of an operand's tile, or of a product's part of it, `size` bytes of its stage from
    /// `start` on, side by side.
    void copy(int map, const OperandTiles& tiles, const OperandBoxes& boxes,
              const OperandPlan& operand, Value* first, Value* depth, Value* at, int start,
              int size) {
        const int bytes = box_bytes(f_.kernel(), boxes.map);
        f_.scope([&] {
            set_depth(block_, depth);
            for (int i = 0; i < size / bytes; ++i) {
                Value* outer = ir_.CreateAdd(first, f_.number(i * boxes.map.axes[0].box));
                f_.set_position(operand.outer, outer);
                Values coordinates;
                for (kernel::AxisId axis : boxes.axes) {
                    Value* position = axis == OperandBoxes::kDepth ? depth : f_.position(axis);
                    coordinates.push_back(ir_.CreateTrunc(position, ir_.getInt32Ty()));
                }
                Value* to =
                    at_byte(f_, place(tiles, at), ir_.getInt32(unsigned(start + i * bytes)));
                copy_box(f_, map, to, coordinates, full_.at(at));
            }
        });
    }

    /// The sums of all tiles. While one is multiplied the next product starts; then the stage of
    /// the one before is empty.
    Values sum_tiles(Value* tiles) {
        const Values zeros(std::size_t(product_.sums()),
                           llvm::ConstantFP::get(ir_.getFloatTy(), 0));
        Value* lane = ir_.CreateURem(f_.thread(), ir_.getInt32(kWarp));
        Value* speaks = ir_.CreateICmpEQ(lane, ir_.getInt32(0));
        const Values all = f_.loop_carrying(
            f_.number(0), tiles, f_.number(1), zeros, [&](Value* tile, const Values& sums) {
                Value* at = stage(tile);
                wait_for_phase(f_, full_.at(at), turn(tile));
                Value *a = place(a_, at), *b = place(b_, at);
                const Values started = product_.start(a, b, sums);
                const Values added = product_.add(a, b, started);
                Value* has_before = ir_.CreateICmpNE(tile, f_.number(0));
                f_.when(ir_.CreateAnd(speaks, has_before),
                        [&] { arrive(f_, empty_.at(stage(ir_.CreateSub(tile, f_.number(1))))); });
                return added;
            });
        return product_.finish(all);
    }

    const ContractionBlock& block_;
    Function& f_;
    llvm::IRBuilder<>& ir_;
    const ContractionPlan& plan_;
    OperandTiles a_, b_;
    GroupProduct product_;
    Value* memory_;
    TileEpilogue epilogue_;
    Barriers full_, empty_;
};

}  // namespace

int write_ring(const ContractionBlock& block) {
    Ring ring(block);
    ring.run();
    return ring.shared_bytes();
}

}  // namespace fovea::emit::nvptx
