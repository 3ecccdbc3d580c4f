// Products of matrices by mma.sync, whose operands all threads of the block bring to shared memory.
#include "codegen/emit/nvptx/tile_matrix_kernel.h"

#include <algorithm>
#include <set>

#include "codegen/emit/nvptx/matrix_instructions.h"
#include "codegen/emit/nvptx/tile_fragments.h"
#include "codegen/emit/nvptx/tile_kernel.h"
#include "codegen/emit/nvptx/tile_matrices.h"

namespace fovea::emit::nvptx {

using namespace kernel;
using llvm::Value;

namespace {

class Writer : public TileFragments {
  public:
    Writer(const TileMatrixPlan& plan, Function& function)
        : TileFragments(plan.kernel, plan.rows, function), plan_(plan), matrices_(plan, function) {}

    void run() {
        start_block();
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
    void start_block() {
        Value* lane = ir_.CreateAnd(f_.thread(), 31);
        Value* warp_row = ir_.CreateShl(ir_.CreateLShr(f_.thread(), 5), 4);
        find_block(plan_.points, plan_.tile_rows(),
                   ir_.CreateAdd(warp_row, ir_.CreateLShr(lane, 2)));
        for (AxisId axis = 0; axis < AxisId(kernel_.axes.size()); ++axis) {
            const Dim& size = kernel_.axes[std::size_t(axis)].extent;
            const bool is_point =
                std::find(plan_.points.begin(), plan_.points.end(), axis) != plan_.points.end();
            if (axis != plan_.rows && !is_point && size.is_static())
                slots_.set_columns(axis, plan_.length(axis), f_.number(0), nullptr);
        }
    }

    void wait_for_block() override {
        f_.barrier();
        copied_ = false;
    }

    void write_product(Id id) override {
        const Contract& contract = *as<Contract>(kernel_, id);
        const Id rows = has_rows(contract.a) ? contract.a : contract.b;
        const Id columns = rows == contract.a ? contract.b : contract.a;
        const AxisId summed = contract.axes[0];
        if (copied_) wait_for_block();
        const Id sum = sum_with(id);
        const int across = plan_.length(column_of(id)) / 8, depth = plan_.length(summed) / 16;
        std::vector<Values> sums = start_of(id, sum, across);
        std::vector<Values> left;
        if (!plan_.operands.contains(rows)) left = operand_of(rows, summed);
        for (int step = 0; step < depth; ++step) {
            const Values a =
                left.empty() ? matrices_.rows_of(rows, step * 16) : left[std::size_t(step)];
            for (int i = 0; i < across; i += 2) {
                const Values b = matrices_.columns_of(columns, summed, i * 8, step * 16);
                for (int half = 0; half < 2; ++half) {
                    Values& one = sums[std::size_t(i + half)];
                    one = multiply_matrices(f_.ir(), a, b[std::size_t(half) * 2],
                                            b[std::size_t(half) * 2 + 1], one);
                }
            }
        }
        define(sum, by_rows(sums));
    }

    void write_loop(Id id) override {
        const Loop& loop = *as<Loop>(kernel_, id);
        Value* tile = f_.number(plan_.tile_columns);
        const Range range = range_of(loop, plan_.tile_columns, plan_.warps);
        Value *first = range.first, *end = range.end;
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
        define_results(id, carried);
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
    TileMatrices matrices_;
    bool copied_ = false;  // operands, of which other threads do not know
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
