#include "codegen/emit/nvptx/attention/attention_ring.h"

#include <llvm/IR/IntrinsicsNVPTX.h>

#include "codegen/emit/nvptx/contraction/contraction_block.h"
#include "codegen/emit/nvptx/inline_asm.h"

namespace fovea::emit::nvptx {

using llvm::Value;

namespace {

constexpr int kStages = AttentionGroupPlan::kStages, kGroups = AttentionGroupPlan::kGroups;
constexpr int kComputing = kGroups * 128;  // threads
constexpr int kRowBytes = AttentionGroupPlan::kBoxColumns * 2;
constexpr int kClearing = 1;  // barrier of the groups that compute
constexpr int kFixed = 0, kFirstFull = 1;  // barrier objects

int bytes_of_operands(const std::vector<AttentionGroupPlan::Operand>& operands) {
    int bytes = 0;
    for (const AttentionGroupPlan::Operand& operand : operands) bytes += operand.bytes();
    return bytes;
}

}  // namespace

AttentionRing::AttentionRing(const AttentionGroupPlan& plan, Function& function)
    : plan_(plan),
      f_(function),
      memory_(dynamic_shared(*function.llvm_function().getParent())),
      parties_(plan.only_adds ? 1 : int(plan.moving.size())),
      first_empty_(kFirstFull + parties_ * kStages),
      count_(first_empty_ + parties_ * kStages),
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

Value* AttentionRing::full(int party, Value* tile) {
    const int first = kFirstFull + party * kStages;
    return barriers_.at(f_.ir().CreateAdd(stage(tile), integer(first)));
}

Value* AttentionRing::empty(int party, Value* tile) {
    const int first = first_empty_ + party * kStages;
    return barriers_.at(f_.ir().CreateAdd(stage(tile), integer(first)));
}

Value* AttentionRing::fixed_memory(std::size_t number) {
    int before = 0;
    for (std::size_t i = 0; i < number; ++i) before += plan_.fixed[i].bytes();
    return at_byte(f_, memory_, integer(before));
}

Value* AttentionRing::memory(std::size_t number, Value* tile) {
    int before = bytes_of_operands(plan_.fixed);
    for (std::size_t i = 0; i < number; ++i) before += kStages * plan_.moving[i].bytes();
    Value* bytes = f_.ir().CreateMul(stage(tile), integer(plan_.moving[number].bytes()));
    return at_byte(f_, memory_, f_.ir().CreateAdd(bytes, integer(before)));
}

void AttentionRing::bring(int map, const AttentionGroupPlan::Operand& operand, Value* row,
                          Value* to, Value* barrier) {
    const auto narrow = [&](Value* wide) {
        return f_.ir().CreateTrunc(wide, f_.ir().getInt32Ty());
    };
    for (int box = 0; box < operand.boxes(); ++box) {
        Values coordinates{integer(box * AttentionGroupPlan::kBoxColumns), narrow(row)};
        for (std::size_t i = 2; i < operand.axes.size(); ++i)
            coordinates.push_back(narrow(f_.position(operand.axes[i])));
        copy_box(f_, map, at_byte(f_, to, integer(box * operand.box_bytes())), coordinates,
                 barrier);
    }
}

void AttentionRing::bring_party(int party, Value* tile, Value* row) {
    const auto is_in = [&](std::size_t moving) { return parties_ == 1 || int(moving) == party; };
    int bytes = 0;
    for (std::size_t i = 0; i < plan_.moving.size(); ++i)
        if (is_in(i)) bytes += plan_.moving[i].bytes();
    arrive_expecting(f_, full(party, tile), bytes);
    for (std::size_t i = 0; i < plan_.moving.size(); ++i)
        if (is_in(i))
            bring(int(plan_.fixed.size() + i), plan_.moving[i], row, memory(i, tile),
                  full(party, tile));
}

void AttentionRing::bring_all(Value* first, Value* tiles,
                              const std::function<Value*(Value*)>& start) {
    arrive_expecting(f_, barriers_.at(kFixed), bytes_of_operands(plan_.fixed));
    for (std::size_t i = 0; i < plan_.fixed.size(); ++i)
        bring(int(i), plan_.fixed[i], first, fixed_memory(i), barriers_.at(kFixed));
    f_.loop(integer(0), tiles, integer(1), [&](Value* tile) {
        Value* before = f_.ir().CreateXor(parity(tile), integer(1));
        for (int party = 0; party < parties_; ++party) {
            wait_for_phase(f_, empty(party, tile), before);
            bring_party(party, tile, start(tile));
        }
    });
}

void AttentionRing::wait_for_fixed() { wait_for_phase(f_, barriers_.at(kFixed), integer(0)); }

Values AttentionRing::wait_for_all(Value* tile) {
    for (int party = 0; party < parties_; ++party)
        wait_for_phase(f_, full(party, tile), parity(tile));
    Values places;
    for (std::size_t i = 0; i < plan_.moving.size(); ++i) places.push_back(memory(i, tile));
    return places;
}

Value* AttentionRing::wait_for(std::size_t number, Value* tile) {
    wait_for_phase(f_, full(int(number), tile), parity(tile));
    return memory(number, tile);
}

void AttentionRing::release(std::size_t party, Value* tile) {
    Value* first = f_.ir().CreateICmpEQ(f_.ir().CreateAnd(f_.thread(), 127), integer(0));
    f_.when(first, [&] { arrive(f_, empty(int(party), tile)); });
}

void AttentionRing::release_all(Value* tile) {
    for (int party = 0; party < parties_; ++party) release(std::size_t(party), tile);
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
