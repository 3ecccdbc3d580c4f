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
constexpr int kClearing = 1;  // barrier of the groups that compute

}  // namespace

AttentionRing::AttentionRing(const AttentionGroupPlan& plan, Function& function)
    : plan_(plan),
      f_(function),
      memory_(dynamic_shared(*function.llvm_function().getParent())),
      first_full_(int(plan.fixed.size())),
      first_empty_(first_full_ + int(plan.moving.size()) * kStages),
      count_(first_empty_ + int(plan.moving.size()) * kStages),
      barriers_(function, count_, "arrived") {
    f_.when(f_.ir().CreateICmpEQ(f_.thread(), integer(0)), [&] {
        for (int i = 0; i < count_; ++i)
            make_barrier(f_, barriers_.at(i), i < first_empty_ ? 1 : kGroups);
        publish_barriers(f_);
    });
}

Value* AttentionRing::stage(Value* tile) { return f_.ir().CreateAnd(tile, integer(kStages - 1)); }

/// Of the number of the phase in which a tile is brought and read.
Value* AttentionRing::parity(Value* tile) {
    static_assert(kStages == 2);
    return f_.ir().CreateAnd(f_.ir().CreateLShr(tile, 1), integer(1));
}

Value* AttentionRing::full(std::size_t number, Value* tile) {
    const int first = first_full_ + int(number) * kStages;
    return barriers_.at(f_.ir().CreateAdd(stage(tile), integer(first)));
}

Value* AttentionRing::empty(std::size_t number, Value* tile) {
    const int first = first_empty_ + int(number) * kStages;
    return barriers_.at(f_.ir().CreateAdd(stage(tile), integer(first)));
}

Value* AttentionRing::fixed_memory(std::size_t number) {
    int before = 0;
    for (std::size_t i = 0; i < number; ++i) before += plan_.fixed[i].bytes();
    return at_byte(f_, memory_, integer(before));
}

Value* AttentionRing::memory(std::size_t number, Value* tile) {
    int before = 0;
    for (const AttentionGroupPlan::Operand& operand : plan_.fixed) before += operand.bytes();
    for (std::size_t i = 0; i < number; ++i) before += kStages * plan_.moving[i].bytes();
    Value* bytes = f_.ir().CreateMul(stage(tile), integer(plan_.moving[number].bytes()));
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
    const int fixed = int(plan_.fixed.size());
    for (int i = 0; i < fixed; ++i)
        bring(i, plan_.fixed[std::size_t(i)], first, fixed_memory(std::size_t(i)), barriers_.at(i));
    f_.loop(integer(0), tiles, integer(1), [&](Value* tile) {
        Value* before = f_.ir().CreateXor(parity(tile), integer(1));
        for (std::size_t i = 0; i < plan_.moving.size(); ++i) {
            wait_for_phase(f_, empty(i, tile), before);
            bring(fixed + int(i), plan_.moving[i], start(tile), memory(i, tile), full(i, tile));
        }
    });
}

Value* AttentionRing::wait_for_fixed(std::size_t number) {
    wait_for_phase(f_, barriers_.at(int(number)), integer(0));
    return fixed_memory(number);
}

Value* AttentionRing::wait_for(std::size_t number, Value* tile) {
    wait_for_phase(f_, full(number, tile), parity(tile));
    return memory(number, tile);
}

void AttentionRing::release(std::size_t number, Value* tile) {
    Value* first = f_.ir().CreateICmpEQ(f_.ir().CreateAnd(f_.thread(), 127), integer(0));
    f_.when(first, [&] { arrive(f_, empty(number, tile)); });
}

/// A row has 128 bytes in each box, wherever the swizzle puts them.
void AttentionRing::clear(std::size_t number, Value* tile, Value* row) {
    llvm::IRBuilder<>& ir = f_.ir();
    const AttentionGroupPlan::Operand& operand = plan_.moving[number];
    Value* from = memory(number, tile);
    Value* first = ir.CreateMul(row, integer(kRowBytes));
    auto* piece = llvm::FixedVectorType::get(ir.getInt32Ty(), 4);
    for (int box = 0; box < operand.boxes(); ++box) {
        const int bytes = operand.box_bytes();
        Value* begin = ir.CreateAdd(first, ir.CreateShl(f_.thread(), 4));
        f_.loop(begin, integer(bytes), integer(kComputing * 16), [&](Value* at) {
            Value* to = at_byte(f_, from, ir.CreateAdd(at, integer(box * bytes)));
            ir.CreateAlignedStore(llvm::Constant::getNullValue(piece), to, llvm::Align(16));
        });
    }
}

void AttentionRing::end_clearing() {
    write_asm(f_, "fence.proxy.async;");
    f_.ir().CreateIntrinsic(llvm::Intrinsic::nvvm_barrier, {},
                            {integer(kClearing), integer(kComputing)});
}

}  // namespace fovea::emit::nvptx
