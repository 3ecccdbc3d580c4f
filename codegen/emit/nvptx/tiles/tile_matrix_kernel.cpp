// Products of matrices by mma.sync, whose operands all threads of the block bring to shared memory.
#include "codegen/emit/nvptx/tiles/tile_matrix_kernel.h"

#include <algorithm>
#include <set>

#include "codegen/emit/nvptx/matrix_instructions.h"
#include "codegen/emit/nvptx/tiles/tile_fragments.h"
#include "codegen/emit/nvptx/tiles/tile_kernel.h"
#include "codegen/emit/nvptx/tiles/tile_matrices.h"

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
        copy_fixed();
        write(plan_.task);
        f_.finish();
    }

  private:
    /// Starts to copy the operands that move with no loop.
    void copy_fixed() {
        for (const auto& [load, operand] : plan_.operands) {
            if (operand.home >= 0) continue;
            matrices_.copy(load, first_row_, f_.extent(plan_.rows));
            (operand.is_asynchronous() ? under_way_ : copied_) = true;
        }
        if (under_way_) matrices_.end_group();
    }

    void start_block() {
        Value* lane = ir_.CreateAnd(f_.thread(), 31);
        Value* warp_row = ir_.CreateShl(ir_.CreateLShr(f_.thread(), 5), 4);
        find_block({plan_.rows, plan_.tile_rows(), plan_.points, plan_.target.cached_bytes},
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

    /// What was copied can be read, but for the newest `left` groups of copies.
    void wait_for_fixed(int left) {
        if (under_way_) matrices_.wait_for_copies(left);
        if (under_way_ || copied_) wait_for_block();
        under_way_ = false;
    }

    /// The first operands of products that stay in registers.
    void read_rows() {
        for (const auto& [load, operand] : plan_.operands)
            for (int step = 0; operand.in_registers && step < plan_.length(operand.column) / 16;
                 ++step)
                rows_[load].push_back(matrices_.rows_of(load, step * 16));
    }

    void write_product(Id id) override {
        const Contract& contract = *as<Contract>(kernel_, id);
        const Id rows = has_rows(contract.a) ? contract.a : contract.b;
        const Id columns = rows == contract.a ? contract.b : contract.a;
        const AxisId summed = contract.axes[0];
        wait_for_fixed(0);
        const Id sum = sum_with(id);
        const int across = plan_.length(column_of(id)) / 8, depth = plan_.length(summed) / 16;
        std::vector<Values> sums = start_of(id, sum, across);
        std::vector<Values> left;
        if (!plan_.operands.contains(rows)) left = packed(factors_of(rows, summed));
        else if (rows_.contains(rows)) left = rows_.at(rows);
        for (int step = 0; step < depth; ++step) {
            const Values a =
                left.empty() ? matrices_.rows_of(rows, step * 16) : left[std::size_t(step)];
            for (int i = 0; i < across; i += 2) {
                const Values b = matrices_.columns_of(columns, summed, i * 8, step * 16);
                for (int half = 0; half < 2; ++half) {
                    Values& one = sums[std::size_t(i + half)];
                    one = multiply_matrices(f_.ir(), a, b[std::size_t(half) * 2],
                                            b[std::size_t(half) * 2 + 1], one, contract.factors);
                }
            }
        }
        define(sum, by_rows(sums));
    }

    void write_loop(Id id) override {
        const Loop& loop = *as<Loop>(kernel_, id);
        Value* tile = f_.number(plan_.tile_columns);
        const Range range = range_of(loop, plan_.tile_columns, plan_.target.matrices.warps);
        Value *first = range.first, *end = range.end;
        Values carried;
        for (const Carry& carry : loop.carries)
            for (Value* value : values(carry.initial)) carried.push_back(value);
        if (moves_ahead(id)) {
            f_.when(ir_.CreateICmpSLT(first, end), [&] { copy_ahead(id, first, end); });
            matrices_.end_group();
        }
        if (rows_.empty() && has_rows_in_registers()) {
            wait_for_fixed(moves_ahead(id) ? 1 : 0);
            read_rows();
        }
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
        const bool under_way = under_way_, copied = copied_;
        start_tile(id, at, end);
        slots_.set_columns(loop.axis, plan_.tile_columns, at, columns_end);
        for (int i = 0; i < int(loop.carries.size()); ++i)
            define(loop.carries[std::size_t(i)].argument, carried_part(loop, i, carried));
        const std::set<Id> done = done_;
        write(loop.body);
        Values next;
        for (const Carry& carry : loop.carries)
            for (Value* value : values(carry.next)) next.push_back(value);
        done_ = done;
        under_way_ = under_way, copied_ = copied;  // there may be no tile
        return next;
    }

    /// Operands of the tile at `at` are there, or are copied now; those of the next one are on
    /// their way.
    void start_tile(Id loop, Value* at, Value* end) {
        matrices_.enter_tile(at);
        if (moves_ahead(loop)) matrices_.wait_for_copies(0);
        bool waits = moves_ahead(loop);
        for (const auto& [load, operand] : plan_.operands) waits = waits || operand.home == loop;
        if (waits) wait_for_block();  // and no thread reads what is copied over
        under_way_ = under_way_ && !moves_ahead(loop);
        if (moves_ahead(loop)) {
            Value* next = ir_.CreateNSWAdd(at, f_.number(plan_.tile_columns));
            f_.when(ir_.CreateICmpSLT(next, end), [&] { copy_ahead(loop, next, end); });
            matrices_.end_group();
        }
        for (const auto& [load, operand] : plan_.operands)
            if (operand.home == loop && !operand.has_stages()) {
                matrices_.copy(load, at, end);
                copied_ = true;
            }
    }

    bool moves_ahead(Id loop) const {
        return std::any_of(plan_.operands.begin(), plan_.operands.end(), [&](const auto& one) {
            return one.second.home == loop && one.second.has_stages();
        });
    }
    void copy_ahead(Id loop, Value* first, Value* end) {
        for (const auto& [load, operand] : plan_.operands)
            if (operand.home == loop && operand.has_stages()) matrices_.copy(load, first, end);
    }
    bool has_rows_in_registers() const {
        return std::any_of(plan_.operands.begin(), plan_.operands.end(),
                           [](const auto& one) { return one.second.in_registers; });
    }

    const TileMatrixPlan& plan_;
    TileMatrices matrices_;
    std::map<Id, std::vector<Values>> rows_;  // first operands in registers, by 16 columns
    bool copied_ = false;  // operands, of which other threads do not know
    bool under_way_ = false;  // copies of operands that move with no loop
};

}  // namespace

PtxLaunch write_tile_matrices(llvm::Module& module, const TileMatrixPlan& plan,
                              const std::string& entry) {
    Function function(module, plan.kernel, entry, plan.target.matrices.warps * 32);
    prepare_tile_function(function);
    Writer(plan, function).run();
    PtxLaunch launch{.entry = entry, .grid = {}, .threads = plan.target.matrices.warps * 32};
    for (AxisId axis : plan.points)
        launch.grid.push_back({plan.kernel.axes[std::size_t(axis)].extent, 1});
    launch.grid.push_back({plan.kernel.axes[std::size_t(plan.rows)].extent, plan.tile_rows()});
    launch.shared_bytes = plan.shared_bytes;
    return launch;
}

}  // namespace fovea::emit::nvptx
