// A thread has, of every tile, two rows and two neighbouring columns out of eight: what one product
// leaves in its registers is what the next takes. Sums along columns are exchanged among the four
// threads of a row.
#include "codegen/emit/nvptx/tile_matrix_kernel.h"

#include <algorithm>
#include <set>

#include <llvm/IR/Intrinsics.h>

#include "codegen/emit/nvptx/matrix_instructions.h"
#include "codegen/emit/nvptx/tile_kernel.h"
#include "codegen/emit/nvptx/tile_matrices.h"
#include "codegen/emit/nvptx/tile_slots.h"
#include "codegen/kernel/blocks.h"

namespace fovea::emit::nvptx {

using namespace kernel;
using llvm::Value;

namespace {

constexpr int kRows = TileSlots::kRows, kQuad = TileSlots::kQuad;

class Writer {
  public:
    Writer(const TileMatrixPlan& plan, Function& function)
        : plan_(plan),
          kernel_(plan.kernel),
          f_(function),
          ir_(function.ir()),
          matrices_(plan, function),
          slots_(plan.rows, function),
          users_(users_of(plan.kernel)) {}

    void run() {
        find_block();
        for (const auto& [load, operand] : plan_.operands)
            if (operand.home < 0) {
                const bool is_row = operand.row == plan_.rows;
                f_.scope([&, id = load] {
                    matrices_.copy(id, is_row ? first_row_ : f_.number(0), f_.extent(plan_.rows));
                });
                copied_ = true;
            }
        write(plan_.task);
        f_.finish();
    }

  private:
    const std::vector<AxisId>& axes(Id id) const { return kernel_.nodes[std::size_t(id)].axes; }
    Value* integer(int value) { return ir_.getInt32(std::uint32_t(value)); }

    void find_block() {
        const int tile = plan_.tile_rows();
        Value* extent = f_.extent(plan_.rows);
        Value* count =
            ir_.CreateUDiv(ir_.CreateNSWAdd(extent, f_.number(tile - 1)), f_.number(tile));
        first_row_ = ir_.CreateNSWMul(ir_.CreateURem(f_.block(), count), f_.number(tile));
        Value* rest = ir_.CreateUDiv(f_.block(), count);
        for (std::size_t i = plan_.points.size(); i-- > 0;) {
            Value* points = f_.extent(plan_.points[i]);
            f_.set_position(plan_.points[i], ir_.CreateURem(rest, points));
            rest = ir_.CreateUDiv(rest, points);
        }
        Value* lane = ir_.CreateAnd(f_.thread(), 31);
        Value* warp_row = ir_.CreateShl(ir_.CreateLShr(f_.thread(), 5), 4);
        Value* row = ir_.CreateAdd(warp_row, ir_.CreateLShr(lane, 2));
        in_quad_ = ir_.CreateAnd(lane, kQuad - 1, "in_quad");
        slots_.set_rows(ir_.CreateNSWAdd(first_row_, ir_.CreateZExt(row, ir_.getInt64Ty())),
                        extent);
        for (AxisId axis = 0; axis < AxisId(kernel_.axes.size()); ++axis) {
            const Dim& size = kernel_.axes[std::size_t(axis)].extent;
            const bool is_point =
                std::find(plan_.points.begin(), plan_.points.end(), axis) != plan_.points.end();
            if (axis != plan_.rows && !is_point && size.is_static())
                slots_.set_columns(axis, plan_.length(axis), f_.number(0), nullptr);
        }
    }

    Values values(Id id, DType dtype = DType::f32) {
        Values all;
        slots_.over(axes(id), [&](std::size_t) { all.push_back(f_.value(id, dtype)); });
        return all;
    }
    void define(Id id, const Values& all) {
        slots_.over(axes(id), [&](std::size_t number) { f_.define(id, all[number]); });
    }

    void write(const std::vector<Id>& block) {
        for (Id id : block) {
            if (as<Contract>(kernel_, id)) write_product(id);
            else if (as<Reduce>(kernel_, id)) write_reduction(id);
            else if (auto store = as<Store>(kernel_, id)) write_store(*store);
            else if (as<Loop>(kernel_, id)) write_loop(id);
        }
    }

    AxisId column_of(Id id) const {
        for (AxisId axis : axes(id))
            if (axis != plan_.rows) return axis;
        return -1;
    }
    bool has_rows(Id id) const {
        return std::find(axes(id).begin(), axes(id).end(), plan_.rows) != axes(id).end();
    }

    void write_product(Id id) {
        const Contract& contract = *as<Contract>(kernel_, id);
        const Id rows = has_rows(contract.a) ? contract.a : contract.b;
        const Id columns = rows == contract.a ? contract.b : contract.a;
        const AxisId summed = contract.axes[0];
        if (copied_) f_.barrier();
        copied_ = false;
        const Id sum = sum_with(id);
        const int across = plan_.length(column_of(id)) / 8, depth = plan_.length(summed) / 16;
        std::vector<Values> sums = start_of(id, sum, across);
        Values left;
        if (!plan_.operands.contains(rows))
            left = existing(values(rows), summed, f_.neutral(Reduction::sum, ir_.getFloatTy()));
        for (int step = 0; step < depth; ++step) {
            const Values a = left.empty() ? matrices_.rows_of(rows, step * 16)
                                          : fragment(left, std::size_t(depth) * 4, step);
            for (int i = 0; i < across; i += 2) {
                const Values b = matrices_.columns_of(columns, summed, i * 8, step * 16);
                for (int half = 0; half < 2; ++half) {
                    Values& one = sums[std::size_t(i + half)];
                    one = multiply_matrices(f_.ir(), a, b[std::size_t(half) * 2],
                                            b[std::size_t(half) * 2 + 1], one);
                }
            }
        }
        Values all;
        for (std::size_t row = 0; row < kRows; ++row)
            for (const Values& one : sums)
                for (std::size_t column = 0; column < 2; ++column)
                    all.push_back(one[row * 2 + column]);
        define(sum, all);
    }

    /// Values of rows times the summed axis, as the first operand of a product.
    Values fragment(const Values& values, std::size_t row_length, int step) {
        Values registers;
        for (std::size_t half = 0; half < 2; ++half)
            for (std::size_t row = 0; row < kRows; ++row) {
                const std::size_t at = row * row_length + std::size_t(step) * 4 + half * 2;
                registers.push_back(matrices_.pair(values[at], values[at + 1]));
            }
        return registers;
    }

    /// The sum that a product alone is added to, which then starts its sums; else the product.
    Id sum_with(Id id) {
        const std::vector<Id>& users = users_[std::size_t(id)];
        if (users.size() != 1) return id;
        const Map* map = as<Map>(kernel_, users[0]);
        if (!map || map->function != Elementwise::add || axes(users[0]) != axes(id)) return id;
        const Id other = map->operands[map->operands[0] == id ? 1 : 0];
        return can_make(other) ? users[0] : id;
    }

    /// Whether all products and reductions that a value is made of are known.
    bool can_make(Id id) const {
        if (as<Contract>(kernel_, id) || as<Reduce>(kernel_, id)) return done_.contains(id);
        if (as<Carried>(kernel_, id) || as<Result>(kernel_, id)) return true;
        const std::vector<Id> operands = operands_of(kernel_, id);
        return std::all_of(operands.begin(), operands.end(),
                           [&](Id operand) { return can_make(operand); });
    }

    std::vector<Values> start_of(Id id, Id sum, int across) {
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

    /// The values, but `otherwise` past the end of the tile along `axis`, their column.
    Values existing(Values all, AxisId axis, Value* otherwise) {
        const TileSlots::Slots& slots = slots_.of(axis);
        if (slots.exist.empty()) return all;
        for (std::size_t i = 0; i < all.size(); ++i)
            all[i] = ir_.CreateSelect(slots.exist[i % slots.exist.size()], all[i], otherwise);
        return all;
    }

    void write_reduction(Id id) {
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

    void write_store(const Store& store) {
        const AxisId column = column_of(store.value);
        const DType dtype = kernel_.buffers[std::size_t(store.access.buffer)].dtype;
        const TileSlots::Slots& rows = slots_.of(plan_.rows);
        for (std::size_t i = 0; i < kRows; ++i) {
            Value* writes = rows.exist[i];
            if (column < 0) writes = ir_.CreateAnd(writes, ir_.CreateICmpEQ(in_quad_, integer(0)));
            f_.when(writes, [&] {
                f_.set_position(plan_.rows, rows.positions[i]);
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

    void put(const Store& store, DType dtype) {
        Value* value = f_.value(store.value, dtype);
        if (store.accumulate) value = ir_.CreateFAdd(f_.load(store.access), value);
        f_.store(store.access, value);
    }

    /// The largest number of an i32 tile of the rows, or of none; of their negatives.
    Value* largest(Id bound, bool negative) {
        Value* result = nullptr;
        f_.scope([&] {
            for (Value* one : values(bound, i32)) {
                if (negative) one = ir_.CreateNSWNeg(one);
                result = result ? f_.combine(Reduction::max, result, one) : one;
            }
        });
        if (!axes(bound).empty()) result = largest_of_block(result);
        return ir_.CreateSExt(result, ir_.getInt64Ty());
    }

    /// The largest of all threads' numbers, in all threads. Its memory is used for nothing else.
    Value* largest_of_block(Value* number) {
        number = f_.group_reduce(Reduction::max, number, 32);
        Value* all = f_.shared(ir_.getInt32Ty(), std::size_t(plan_.warps), "bounds");
        const auto of_warp = [&](Value* warp) {
            return ir_.CreateInBoundsGEP(ir_.getInt32Ty(), all, warp);
        };
        f_.when(ir_.CreateICmpEQ(ir_.CreateAnd(f_.thread(), 31), integer(0)),
                [&] { ir_.CreateStore(number, of_warp(ir_.CreateLShr(f_.thread(), 5))); });
        f_.barrier();
        copied_ = false;
        Value* largest = nullptr;
        for (int warp = 0; warp < plan_.warps; ++warp) {
            Value* one = ir_.CreateLoad(ir_.getInt32Ty(), of_warp(integer(warp)));
            largest = largest ? f_.combine(Reduction::max, largest, one) : one;
        }
        return largest;
    }

    void write_loop(Id id) {
        const Loop& loop = *as<Loop>(kernel_, id);
        Value* tile = f_.number(plan_.tile_columns);
        Value *first = f_.number(0), *end = f_.extent(loop.axis);
        if (loop.lower >= 0) {
            Value* from = ir_.CreateNSWNeg(largest(loop.lower, true));
            first = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, first, from);
            first = ir_.CreateNSWMul(ir_.CreateUDiv(first, tile), tile);
        }
        if (loop.upper >= 0)
            end = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, end, largest(loop.upper, false));
        end = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, first, end);
        Values carried;
        for (const Carry& carry : loop.carries)
            for (Value* value : values(carry.initial)) carried.push_back(value);
        // Whole tiles first, then the rest, past whose end nothing counts.
        Value* rest = ir_.CreateURem(ir_.CreateNSWSub(end, first), tile);
        Value* whole = ir_.CreateNSWSub(end, rest);
        for (Value* until : {whole, end}) {
            const bool is_rest = until == end;
            carried =
                f_.loop_carrying(first, until, tile, carried, [&](Value* at, const Values& now) {
                    return write_tile(id, at, is_rest ? end : nullptr, end, now);
                });
            first = whole;
        }
        for (Id node = 0; node < Id(kernel_.nodes.size()); ++node)
            if (auto result = as<Result>(kernel_, node); result && result->loop == id)
                define(node, carried_part(loop, result->number, carried));
    }

    /// Those of carried value `number` among the values of all.
    Values carried_part(const Loop& loop, int number, const Values& all) {
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

    Values write_tile(Id id, Value* at, Value* columns_end, Value* end, const Values& carried) {
        const Loop& loop = *as<Loop>(kernel_, id);
        bool moves = false;
        for (const auto& [load, operand] : plan_.operands) {
            if (operand.home != id) continue;
            if (!moves) f_.barrier();
            moves = true;
            f_.scope([&, one = load] { matrices_.copy(one, at, end); });
        }
        copied_ = copied_ || moves;
        slots_.set_columns(loop.axis, plan_.tile_columns, at, columns_end);
        for (int i = 0; i < int(loop.carries.size()); ++i)
            define(loop.carries[std::size_t(i)].argument, carried_part(loop, i, carried));
        const std::set<Id> done = done_;
        write(loop.body);
        Values next;
        for (const Carry& carry : loop.carries)
            for (Value* value : values(carry.next)) next.push_back(value);
        done_ = done;
        return next;
    }

    const TileMatrixPlan& plan_;
    const Kernel& kernel_;
    Function& f_;
    llvm::IRBuilder<>& ir_;
    TileMatrices matrices_;
    TileSlots slots_;
    std::vector<std::vector<Id>> users_;
    std::set<Id> done_;  // products and reductions that are known
    bool copied_ = false;  // operands, of which other threads do not know
    Value *first_row_ = nullptr, *in_quad_ = nullptr;
};

}  // namespace

PtxLaunch write_tile_matrices(llvm::Module& module, const TileMatrixPlan& plan,
                              const std::string& entry) {
    Function function(module, plan.kernel, entry, plan.warps * 32);
    prepare_tile_function(function);
    Writer(plan, function).run();
    PtxLaunch launch{.entry = entry, .grid = {}, .threads = plan.warps * 32};
    for (AxisId axis : plan.points)
        launch.grid.push_back({plan.kernel.axes[std::size_t(axis)].extent, 1});
    launch.grid.push_back({plan.kernel.axes[std::size_t(plan.rows)].extent, plan.tile_rows()});
    return launch;
}

}  // namespace fovea::emit::nvptx
