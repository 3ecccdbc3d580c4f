#include "codegen/emit/nvptx/attention_ring.h"

#include <llvm/IR/IntrinsicsNVPTX.h>

#include "codegen/emit/nvptx/contraction_block.h"
#include "codegen/emit/nvptx/inline_asm.h"

namespace fovea::emit::nvptx {

using llvm::Value;

namespace {

constexpr int kStages = AttentionGroupPlan::kStages, kGroups = AttentionGroupPlan::kGroups;
constexpr int kComputing = kGroups * 128;  // threads
constexpr int kRowBytes = AttentionGroupPlan::kBoxColumns * 2;
// Barrier objects: that of the queries, then for keys and values, full and empty, one for each
// stage.
constexpr int kQueries = 0, kFull = 1, kEmpty = kFull + 2 * kStages, kAll = kEmpty + 2 * kStages;
constexpr int kClearing = 1;  // barrier of the groups that compute

}  // namespace

AttentionRing::AttentionRing(const AttentionGroupPlan& plan, Function& function)
    : plan_(plan),
      f_(function),
      memory_(dynamic_shared(*function.llvm_function().getParent())),
      barriers_(function, kAll, "arrived") {
    f_.when(f_.ir().CreateICmpEQ(f_.thread(), integer(0)), [&] {
        for (int i = 0; i < kAll; ++i) make_barrier(f_, barriers_.at(i), i < kEmpty ? 1 : kGroups);
        publish_barriers(f_);
    });
}

Value* AttentionRing::stage(Value* tile) { return f_.ir().CreateAnd(tile, integer(kStages - 1)); }

/// Of the number of the phase in which a tile is brought and read.
Value* AttentionRing::parity(Value* tile) {
    static_assert(kStages == 2);
    return f_.ir().CreateAnd(f_.ir().CreateLShr(tile, 1), integer(1));
}

Value* AttentionRing::full(Tile kind, Value* tile) {
    const int first = kFull + (kind == Tile::keys ? 0 : kStages);
    return barriers_.at(f_.ir().CreateAdd(stage(tile), integer(first)));
}

Value* AttentionRing::empty(Tile kind, Value* tile) {
    const int first = kEmpty + (kind == Tile::keys ? 0 : kStages);
    return barriers_.at(f_.ir().CreateAdd(stage(tile), integer(first)));
}

Value* AttentionRing::memory(Tile kind, Value* tile) {
    const int before =
        plan_.queries.bytes() + (kind == Tile::keys ? 0 : kStages * plan_.keys.bytes());
    Value* bytes = f_.ir().CreateMul(stage(tile), integer(operand(kind).bytes()));
    return at_byte(f_, memory_, f_.ir().CreateAdd(bytes, integer(before)));
}

void AttentionRing::bring(int map, const AttentionGroupPlan::Operand& operand, Value* row,
                          Value* to, Value* barrier) {
    const auto narrow = [&](Value* wide) {
        return f_.ir().CreateTrunc(wide, f_.ir().getInt32Ty());
    };
    arrive_expecting(f_, barrier, operand.bytes());
    for (int box = 0; box < operand.boxes(); ++box) {
        Values coordinates{integer(box * AttentionGroupPlan::kBoxColumns), narrow(row)};
        for (std::size_t i = 2; i < operand.axes.size(); ++i)
            coordinates.push_back(narrow(f_.position(operand.axes[i])));
        copy_box(f_, map, at_byte(f_, to, integer(box * operand.box_bytes())), coordinates,
                 barrier);
    }
}

void AttentionRing::bring_all(Value* first, Value* tiles,
                              const std::function<Value*(Value*)>& start) {
    bring(0, plan_.queries, first, memory_, barriers_.at(kQueries));
    f_.loop(integer(0), tiles, integer(1), [&](Value* tile) {
        Value* before = f_.ir().CreateXor(parity(tile), integer(1));
        for (const Tile kind : {Tile::keys, Tile::values}) {
            wait_for_phase(f_, empty(kind, tile), before);
            bring(kind == Tile::keys ? 1 : 2, operand(kind), start(tile), memory(kind, tile),
                  full(kind, tile));
        }
    });
}

Value* AttentionRing::wait_for_queries() {
    wait_for_phase(f_, barriers_.at(kQueries), integer(0));
    return memory_;
}

Value* AttentionRing::wait_for(Tile kind, Value* tile) {
    wait_for_phase(f_, full(kind, tile), parity(tile));
    return memory(kind, tile);
}

void AttentionRing::release(Tile kind, Value* tile) {
    Value* first = f_.ir().CreateICmpEQ(f_.ir().CreateAnd(f_.thread(), 127), integer(0));
    f_.when(first, [&] { arrive(f_, empty(kind, tile)); });
}

/// A row has 128 bytes in each box, wherever the swizzle puts them.
void AttentionRing::clear_values(Value* tile, Value* row) {
    llvm::IRBuilder<>& ir = f_.ir();
    Value* from = wait_for(Tile::values, tile);
    Value* first = ir.CreateMul(row, integer(kRowBytes));
    auto* piece = llvm::FixedVectorType::get(ir.getInt32Ty(), 4);
    for (int box = 0; box < plan_.values.boxes(); ++box) {
        const int bytes = plan_.values.box_bytes();
        Value* begin = ir.CreateAdd(first, ir.CreateShl(f_.thread(), 4));
        f_.loop(begin, integer(bytes), integer(kComputing * 16), [&](Value* at) {
            Value* to = at_byte(f_, from, ir.CreateAdd(at, integer(box * bytes)));
            ir.CreateAlignedStore(llvm::Constant::getNullValue(piece), to, llvm::Align(16));
        });
    }
    write_asm(f_, "fence.proxy.async;");
    ir.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier, {},
                       {integer(kClearing), integer(kComputing)});
}

}  // namespace fovea::emit::nvptx
