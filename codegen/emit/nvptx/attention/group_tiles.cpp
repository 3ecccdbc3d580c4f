#include "codegen/emit/nvptx/attention/group_tiles.h"

#include <llvm/IR/Intrinsics.h>

#include "codegen/base/error.h"
#include "codegen/emit/nvptx/group_products.h"
#include "codegen/emit/nvptx/inline_asm.h"

namespace fovea::emit::nvptx {

using namespace kernel;
using llvm::Value;

namespace {

constexpr int kComputingThreads = AttentionGroupPlan::kGroups * 128;  // threads
constexpr int kBoxRowBytes = AttentionGroupPlan::kBoxColumns * 2;

}  // namespace

GroupTiles::GroupTiles(const Plan& plan, Function& function)
    : TileFragments(plan.kernel, plan.rows, function),
      plan_(plan),
      loop_(*as<Loop>(plan.kernel, plan.loop)),
      ring_(plan, function) {}

void GroupTiles::run() {
    find_rows();
    find_tiles();
    if (!has_waited_) wait_for_block();
    Value* computes = ir_.CreateICmpULT(f_.thread(), integer(kComputingThreads));
    const auto compute = [&] {
        take_registers(f_, plan_.target.groups.computing_registers);
        find_rows();
        write(plan_.task);
        return Values{};
    };
    const auto bring = [&] {
        give_registers(f_, plan_.target.groups.bringing_registers);
        Value* first = ir_.CreateICmpEQ(f_.thread(), integer(kComputingThreads));
        f_.when(ir_.CreateAnd(first, ir_.CreateICmpSGT(tiles_, integer(0))), [&] {
            ring_.bring_all(first_row_, tiles_, [&](Value* tile) { return start_of_tile(tile); });
        });
        return Values{};
    };
    either(ir_.CreateNot(computes), bring, compute);
    f_.finish();
}

void GroupTiles::find_rows() {
    f_.read_numbers_again();
    Value* warp = ir_.CreateAnd(ir_.CreateLShr(f_.thread(), 5), Plan::kGroups * 4 - 1);
    Value* row = ir_.CreateLShr(ir_.CreateAnd(f_.thread(), 31), 2);
    find_block({plan_.rows, Plan::tile_rows(), plan_.points, plan_.target.cached_bytes},
               ir_.CreateAdd(ir_.CreateShl(warp, 4), row));
    for (const Plan::Sum& sum : plan_.sums)
        slots_.set_columns(column_of(sum.product), columns(sum.product), f_.number(0), nullptr);
}

void GroupTiles::wait_for_block() {
    f_.barrier();
    has_waited_ = true;
}

void GroupTiles::write_product(Id) { throw InternalError("a product outside of attention's loop"); }

Value* GroupTiles::whole_tiles(Value* positions) {
    Value* tiles = ir_.CreateSDiv(positions, f_.number(plan_.tile_columns));
    return ir_.CreateTrunc(tiles, ir_.getInt32Ty());
}

Value* GroupTiles::tiles_over(Value* positions) {
    return whole_tiles(ir_.CreateNSWAdd(positions, f_.number(plan_.tile_columns - 1)));
}

Value* GroupTiles::smallest(Id bound) {
    return ir_.CreateNSWNeg(largest(bound, true, Plan::threads() / 32));
}

Value* GroupTiles::position_of(Value* number) {
    Value* wide = ir_.CreateSExt(number, ir_.getInt64Ty());
    return ir_.CreateNSWAdd(range_.first, ir_.CreateNSWMul(wide, f_.number(plan_.tile_columns)));
}

void GroupTiles::set_positions(Value* first, int count, bool masked) {
    slots_.set_columns(loop_.axis, count, first, masked ? range_.end : nullptr);
    if (masked) return;
    for (Id id = 0; id < Id(kernel_.nodes.size()); ++id)
        if (auto valid = as<Valid>(kernel_, id); valid && valid->axis == loop_.axis)
            slots_.over(axes(id), [&](std::size_t) { f_.define(id, ir_.getTrue()); });
}

Values GroupTiles::either(Value* condition, const Body& first, const Body& second) {
    llvm::LLVMContext& context = ir_.getContext();
    llvm::BasicBlock* starts[2];
    for (llvm::BasicBlock*& start : starts)
        start = llvm::BasicBlock::Create(context, "either", &f_.llvm_function());
    auto* after = llvm::BasicBlock::Create(context, "after", &f_.llvm_function());
    ir_.CreateCondBr(condition, starts[0], starts[1]);
    Values made[2];
    llvm::BasicBlock* ends[2];
    for (int i = 0; i < 2; ++i) {
        ir_.SetInsertPoint(starts[i]);
        f_.scope([&] { made[i] = i == 0 ? first() : second(); });
        ends[i] = ir_.GetInsertBlock();
        ir_.CreateBr(after);
    }
    ir_.SetInsertPoint(after);
    Values result;
    for (std::size_t i = 0; i < made[0].size(); ++i) {
        llvm::PHINode* one = ir_.CreatePHI(made[0][i]->getType(), 2);
        for (int k = 0; k < 2; ++k) one->addIncoming(made[k][i], ends[k]);
        result.push_back(one);
    }
    return result;
}

int GroupTiles::columns(Id id) const {
    return int(kernel_.axes[std::size_t(column_of(id))].extent.value());
}

Values GroupTiles::as_sums(const Values& rows) {
    const std::size_t length = rows.size() / kRows;
    Values sums;
    for (std::size_t column = 0; column < length; column += 2)
        for (std::size_t row = 0; row < kRows; ++row)
            for (std::size_t i = 0; i < 2; ++i) sums.push_back(rows[row * length + column + i]);
    return sums;
}

Values GroupTiles::in_rows(const Values& sums) {
    std::vector<Values> pieces;
    for (std::size_t i = 0; i < sums.size(); i += kQuad)
        pieces.emplace_back(sums.begin() + std::ptrdiff_t(i),
                            sums.begin() + std::ptrdiff_t(i) + kQuad);
    return by_rows(pieces);
}

GroupTiles::Registers GroupTiles::Registers::after(
    const std::function<Values(const Values&)>& instruction) const {
    Values all = sums;
    for (const Values& one : weights) all.insert(all.end(), one.begin(), one.end());
    all = instruction(all);
    const auto at = [&](std::size_t number) { return all.begin() + std::ptrdiff_t(number); };
    Registers result{Values(at(0), at(sums.size())), {}};
    for (std::size_t i = sums.size(); i < all.size(); i += 4)
        result.weights.emplace_back(at(i), at(i + 4));
    return result;
}

GroupTiles::Registers GroupTiles::fence(const Registers& registers) {
    return registers.after([&](const Values& all) { return fence_registers(f_, all); });
}

Values GroupTiles::start_score(const Plan::Score& score, Value* moving_at, const Part& part) {
    const Plan::Operand &fixed = plan_.fixed[score.fixed], &moving = plan_.moving[score.moving];
    Value* group = ir_.CreateLShr(f_.thread(), 7);
    const int group_bytes = Plan::kGroupRows * kBoxRowBytes;
    Value* rows =
        describe_operand(f_, ir_.CreateGEP(ir_.getInt8Ty(), ring_.fixed_memory(score.fixed),
                                           ir_.CreateMul(group, integer(group_bytes))));
    Value* columns = describe_operand(f_, moving_at);
    Values sums;
    for (int depth = 0; depth < moving.columns; depth += kDepth) {
        const int box = depth / Plan::kBoxColumns, in_box = depth % Plan::kBoxColumns * 2;
        Value* a = plus(rows, box * fixed.box_bytes() + in_box);
        Value* b = plus(columns, box * moving.box_bytes() + part.first * kBoxRowBytes + in_box);
        sums = depth == 0
                   ? start_first_product(f_, a, b, part.columns, plan_.half)
                   : start_product(f_, a, b, false, false, sums, kernel::factors_of(plan_.half));
    }
    commit_products(f_);
    return sums;
}

Values GroupTiles::add_rows(std::size_t moving, Value* rows_at, const Registers& registers,
                            int first) {
    Value* rows = describe_operand(f_, rows_at, plan_.moving[moving].box_bytes());
    Values sums = registers.sums;
    for (std::size_t i = 0; i < registers.weights.size(); ++i) {
        Value* b = plus(rows, (first + int(i) * kDepth) * kBoxRowBytes);
        sums = start_product_of_registers(f_, registers.weights[i], b, sums, plan_.half);
    }
    commit_products(f_);
    return sums;
}

Value* GroupTiles::plus(Value* description, int bytes) {
    return sum_in_place(f_, description, bytes / 16);
}

Values GroupTiles::joined(const std::vector<Values>& parts) {
    Values all;
    for (const Values& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
}

std::vector<Values> GroupTiles::split(const Values& all, const std::vector<Values>& form) {
    std::vector<Values> parts = form;
    auto next = all.begin();
    for (Values& part : parts)
        for (Value*& value : part) value = *next++;
    return parts;
}

}  // namespace fovea::emit::nvptx
