#include "codegen/emit/nvptx/tiles/tile_fragments.h"

#include <algorithm>

#include <llvm/IR/Intrinsics.h>

#include "codegen/emit/nvptx/block_order.h"
#include "codegen/emit/nvptx/halves.h"
#include "codegen/emit/nvptx/matrix_instructions.h"
#include "codegen/kernel/analysis/blocks.h"

namespace fovea::emit::nvptx {

using namespace kernel;
using llvm::Value;

TileFragments::TileFragments(const Kernel& kernel, AxisId rows, Function& function)
    : kernel_(kernel),
      rows_(rows),
      half_(half_of_products(kernel)),
      f_(function),
      ir_(function.ir()),
      slots_(rows, function),
      users_(users_of(kernel)) {}

AxisId TileFragments::column_of(Id id) const {
    for (AxisId axis : axes(id))
        if (axis != rows_) return axis;
    return -1;
}

bool TileFragments::has_rows(Id id) const {
    return std::find(axes(id).begin(), axes(id).end(), rows_) != axes(id).end();
}

void TileFragments::find_block(const BlockOrder& order, Value* row) {
    first_row_ = place_block(f_, order);
    in_quad_ = ir_.CreateAnd(f_.thread(), kQuad - 1, "in_quad");
    slots_.set_rows(ir_.CreateNSWAdd(first_row_, ir_.CreateZExt(row, ir_.getInt64Ty())),
                    f_.extent(rows_));
}

Values TileFragments::values(Id id, DType dtype) {
    Values all;
    slots_.over(axes(id), [&](std::size_t) { all.push_back(f_.value(id, dtype)); });
    return all;
}

void TileFragments::define(Id id, const Values& all) {
    slots_.over(axes(id), [&](std::size_t number) { f_.define(id, all[number]); });
}

void TileFragments::write(const std::vector<Id>& block) {
    for (Id id : block) {
        if (as<Contract>(kernel_, id)) write_product(id);
        else if (as<Reduce>(kernel_, id)) write_reduction(id);
        else if (auto store = as<Store>(kernel_, id)) write_store(*store);
        else if (as<Loop>(kernel_, id)) write_loop(id);
    }
}

Id TileFragments::sum_with(Id id) {
    const std::vector<Id>& users = users_[std::size_t(id)];
    if (users.size() != 1) return id;
    const Map* map = as<Map>(kernel_, users[0]);
    if (!map || map->function != Elementwise::add || axes(users[0]) != axes(id)) return id;
    const Id other = map->operands[map->operands[0] == id ? 1 : 0];
    return can_make(other) ? users[0] : id;
}

bool TileFragments::can_make(Id id) const {
    if (as<Contract>(kernel_, id) || as<Reduce>(kernel_, id)) return done_.contains(id);
    if (as<Carried>(kernel_, id) || as<Result>(kernel_, id)) return true;
    const std::vector<Id> operands = operands_of(kernel_, id);
    return std::all_of(operands.begin(), operands.end(),
                       [&](Id operand) { return can_make(operand); });
}

std::vector<Values> TileFragments::start_of(Id id, Id sum, int across) {
    Values zero(kQuad, f_.neutral(Reduction::sum, ir_.getFloatTy()));
    std::vector<Values> sums(std::size_t(across), zero);
    done_.insert(id);
    if (sum == id) return sums;
    const Map& map = *as<Map>(kernel_, sum);
    const Id other = map.operands[map.operands[0] == id ? 1 : 0];
    slots_.over(axes(id), [&](std::size_t number) {
        const std::size_t columns = std::size_t(across) * 2;
        const std::size_t row = number / columns, column = number % columns;
        sums[column / 2][row * 2 + column % 2] = f_.value(other, DType::f32);
    });
    return sums;
}

Values TileFragments::by_rows(const std::vector<Values>& sums) {
    Values all;
    for (std::size_t row = 0; row < kRows; ++row)
        for (const Values& one : sums)
            for (std::size_t column = 0; column < 2; ++column) all.push_back(one[row * 2 + column]);
    return all;
}

Values TileFragments::factors_of(Id rows, AxisId summed) {
    return existing(values(rows), summed, f_.neutral(Reduction::sum, ir_.getFloatTy()));
}

std::vector<Values> TileFragments::packed(const Values& all) {
    const std::size_t length = all.size() / kRows;
    std::vector<Values> operands;
    for (std::size_t step = 0; step < length / 4; ++step) {
        Values registers;
        for (std::size_t half = 0; half < 2; ++half)
            for (std::size_t row = 0; row < kRows; ++row) {
                const std::size_t at = row * length + step * 4 + half * 2;
                registers.push_back(pair_of(ir_, half_, all[at], all[at + 1]));
            }
        operands.push_back(std::move(registers));
    }
    return operands;
}

Values TileFragments::existing(Values all, AxisId axis, Value* otherwise) {
    const TileSlots::Slots& slots = slots_.of(axis);
    if (slots.exist.empty()) return all;
    for (std::size_t i = 0; i < all.size(); ++i)
        all[i] = ir_.CreateSelect(slots.exist[i % slots.exist.size()], all[i], otherwise);
    return all;
}

void TileFragments::write_reduction(Id id) {
    const Reduce& reduce = *as<Reduce>(kernel_, id);
    const AxisId axis = reduce.axes[0];
    Value* neutral = f_.neutral(reduce.reduction, ir_.getFloatTy());
    const Values all = existing(values(reduce.operand), axis, neutral);
    const std::size_t columns = slots_.of(axis).positions.size();
    Values results;
    for (std::size_t first = 0; first < all.size(); first += columns) {
        Value* result = all[first];
        for (std::size_t i = 1; i < columns; ++i)
            result = f_.combine(reduce.reduction, result, all[first + i]);
        results.push_back(f_.group_reduce(reduce.reduction, result, kQuad));
    }
    done_.insert(id);
    define(id, results);
}

void TileFragments::write_store(const Store& store) {
    const AxisId column = column_of(store.value);
    const DType dtype = kernel_.buffers[std::size_t(store.access.buffer)].dtype;
    const TileSlots::Slots& rows = slots_.of(rows_);
    for (std::size_t i = 0; i < kRows; ++i) {
        Value* writes = rows.exist[i];
        if (column < 0) writes = ir_.CreateAnd(writes, ir_.CreateICmpEQ(in_quad_, integer(0)));
        f_.when(writes, [&] {
            f_.set_position(rows_, rows.positions[i]);
            if (column < 0) return put(store, dtype);
            const TileSlots::Slots& columns = slots_.of(column);
            for (std::size_t j = 0; j < columns.positions.size(); ++j) {
                f_.set_position(column, columns.positions[j]);
                if (columns.exist.empty()) put(store, dtype);
                else f_.when(columns.exist[j], [&] { put(store, dtype); });
            }
        });
    }
}

void TileFragments::put(const Store& store, DType dtype) {
    Value* value = f_.value(store.value, dtype);
    if (store.accumulate) value = ir_.CreateFAdd(f_.load(store.access), value);
    f_.store(store.access, value);
}

Value* TileFragments::largest(Id bound, bool negative, int warps) {
    Value* result = nullptr;
    f_.scope([&] {
        for (Value* one : values(bound, i32)) {
            if (negative) one = ir_.CreateNSWNeg(one);
            result = result ? f_.combine(Reduction::max, result, one) : one;
        }
    });
    if (!axes(bound).empty()) result = largest_of_block(result, warps);
    return ir_.CreateSExt(result, ir_.getInt64Ty());
}

Value* TileFragments::largest_of_block(Value* number, int warps) {
    number = f_.group_reduce(Reduction::max, number, 32);
    Value* all = f_.shared(ir_.getInt32Ty(), std::size_t(warps), "bounds");
    const auto of_warp = [&](Value* warp) {
        return ir_.CreateInBoundsGEP(ir_.getInt32Ty(), all, warp);
    };
    f_.when(ir_.CreateICmpEQ(ir_.CreateAnd(f_.thread(), 31), integer(0)),
            [&] { ir_.CreateStore(number, of_warp(ir_.CreateLShr(f_.thread(), 5))); });
    wait_for_block();
    Value* largest = nullptr;
    for (int warp = 0; warp < warps; ++warp) {
        Value* one = ir_.CreateLoad(ir_.getInt32Ty(), of_warp(integer(warp)));
        largest = largest ? f_.combine(Reduction::max, largest, one) : one;
    }
    return largest;
}

TileFragments::Range TileFragments::range_of(const Loop& loop, int tile, int warps) {
    Range range{f_.number(0), f_.extent(loop.axis)};
    if (loop.lower >= 0) {
        Value* from = ir_.CreateNSWNeg(largest(loop.lower, true, warps));
        from = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, range.first, from);
        range.first = ir_.CreateNSWMul(ir_.CreateUDiv(from, f_.number(tile)), f_.number(tile));
    }
    if (loop.upper >= 0)
        range.end = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, range.end,
                                              largest(loop.upper, false, warps));
    range.end = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, range.first, range.end);
    return range;
}

Values TileFragments::carried_part(const Loop& loop, int number, const Values& all) {
    std::size_t at = 0;
    for (int i = 0; i <= number; ++i) {
        std::size_t count = 0;
        slots_.over(axes(loop.carries[std::size_t(i)].argument), [&](std::size_t) { ++count; });
        if (i == number)
            return Values(all.begin() + std::ptrdiff_t(at),
                          all.begin() + std::ptrdiff_t(at + count));
        at += count;
    }
    return {};
}

void TileFragments::define_results(Id loop, const Values& carried) {
    for (Id node = 0; node < Id(kernel_.nodes.size()); ++node)
        if (auto result = as<Result>(kernel_, node); result && result->loop == loop)
            define(node, carried_part(*as<Loop>(kernel_, loop), result->number, carried));
}

}  // namespace fovea::emit::nvptx
