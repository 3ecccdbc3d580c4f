// Rows added to a table by id: a block for each row of the table and some of its columns, or for
// several rows of few columns, goes over all ids in order, so that sums are always taken in the
// same order, without atomics. Threads look for the block's ids in many places at once, then add
// what was found, each to a row and a column of its own.
#include <algorithm>

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "codegen/emit/nvptx/function.h"
#include "codegen/emit/nvptx/grid.h"
#include "codegen/emit/nvptx/skeletons.h"
#include "codegen/kernel/analysis/loop_nest.h"

namespace fovea::emit::nvptx {

using namespace kernel;
using llvm::Value;

namespace {

/// The one store of a scatter, or null.
const Store* store_of(const Kernel& kernel, const LoopNest& nest) {
    const Store* result = nullptr;
    for (Id id : nest.nodes)
        if (auto store = as<Store>(kernel, id)) {
            if (result) return nullptr;
            result = store;
        }
    return result;
}

/// For how many rows a block has threads: one, unless all columns are known to be few.
int rows_of_threads(const Kernel& kernel, const LoopNest& nest, int threads) {
    std::int64_t columns = 1;
    for (AxisId axis : nest.par) {
        const Dim& extent = kernel.axes[std::size_t(axis)].extent;
        if (!extent.is_static()) return 1;
        columns =
            std::min<std::int64_t>(columns * std::max<std::int64_t>(extent.value(), 1), threads);
    }
    return int(threads / columns);
}

class Scatter {
  public:
    Scatter(llvm::Module& module, const Kernel& kernel, const target::GpuScatter& target)
        : kernel_(kernel),
          threads_(target.threads),
          looks_(target.looks),
          nest_(loop_nest(kernel)),
          rows_(rows_of_threads(kernel, nest_, threads_)),
          store_(*store_of(kernel, nest_)),
          f_(module, kernel, kernel.name, threads_),
          ir_(f_.ir()) {}

    PtxKernel run() {
        const Place place = rows_ > 1 ? among_rows() : along_row();
        set_positions(f_, nest_.par, place.column);
        words_ = f_.shared(ir_.getInt32Ty(), std::size_t(words()), "found");
        Value* count = count_of(f_, nest_.seq);
        const Values zero{float_constant(ir_, 0), ir_.getFalse()};
        const Values sum = f_.loop_carrying(f_.number(0), count, f_.number(looks_ * threads_), zero,
                                            [&](Value* first, const Values& carried) {
                                                find(place.first, first, count);
                                                return add_found(place.row, first, carried);
                                            });
        f_.when(ir_.CreateAnd(place.is_taken, sum[1]), [&] {
            Access to = store_.access;
            to.row = -1;
            Value* wide = ir_.CreateSExt(place.row, ir_.getInt64Ty());
            Value* element =
                ir_.CreateNSWAdd(f_.element(to), ir_.CreateNSWMul(wide, f_.dim(to.row_stride)));
            f_.store_at(to.buffer, element, ir_.CreateFAdd(f_.load_at(to.buffer, element), sum[0]));
        });
        f_.finish();
        return {kernel_.name, {launch()}, {}};
    }

  private:
    /// The row (i32) and the column that a thread adds to, and the first of its block's rows.
    struct Place {
        Value *first, *row, *column;
        Value* is_taken;  // whether there is such a column
    };

    int words() const { return looks_ * threads_ / kWarp; }
    const Dim& table_rows() const {
        return kernel_.buffers[std::size_t(store_.access.buffer)].shape[0];
    }
    Value* wide_thread() { return ir_.CreateZExt(f_.thread(), ir_.getInt64Ty()); }

    /// Of a block with one row, and as many columns as threads.
    Place along_row() {
        Value* columns = count_of(f_, nest_.par);
        Value* strips =
            ir_.CreateUDiv(ir_.CreateNSWAdd(columns, f_.number(threads_ - 1)), f_.number(threads_));
        Value* row = ir_.CreateTrunc(ir_.CreateUDiv(f_.block(), strips), ir_.getInt32Ty(), "row");
        Value* column = ir_.CreateNSWAdd(
            ir_.CreateNSWMul(ir_.CreateURem(f_.block(), strips), f_.number(threads_)),
            wide_thread());
        Value* is_column = ir_.CreateICmpSLT(column, columns);
        Value* last = ir_.CreateNSWSub(columns, f_.number(1));
        return {row, row, ir_.CreateSelect(is_column, column, last), is_column};
    }
    /// Of a block with several rows and all of their columns. No id is a row behind the last.
    Place among_rows() {
        Value* columns = count_of(f_, nest_.par);
        Value* in_block = ir_.CreateUDiv(wide_thread(), columns);
        Value* is_taken = ir_.CreateICmpSLT(in_block, f_.number(rows_));
        Value* first = ir_.CreateNSWMul(f_.block(), f_.number(rows_));
        Value* row = ir_.CreateSelect(is_taken, ir_.CreateNSWAdd(first, in_block), f_.number(-1));
        return {ir_.CreateTrunc(first, ir_.getInt32Ty()),
                ir_.CreateTrunc(row, ir_.getInt32Ty(), "row"),
                ir_.CreateURem(wide_thread(), columns), is_taken};
    }

    PtxLaunch launch() const {
        PtxLaunch result{kernel_.name, {}, threads_, 0};
        if (rows_ == 1) result.grid = grid_of(kernel_, nest_.par, threads_);
        result.grid.push_back({table_rows(), rows_});
        return result;
    }

    /// Writes a word of bits for each 32 ids, from `begin` on: those of the block's rows.
    void find(Value* first_row, Value* begin, Value* count) {
        Value* first = ir_.CreateNSWAdd(begin, wide_thread());
        Value* lane = ir_.CreateAnd(f_.thread(), kWarp - 1);
        Value* warp = ir_.CreateLShr(f_.thread(), 5);
        Values found;
        for (int look = 0; look < looks_; ++look) {
            Value* at = ir_.CreateNSWAdd(first, f_.number(look * threads_));
            Value* exists = ir_.CreateICmpSLT(at, count);
            f_.scope([&] {
                set_positions(f_, nest_.seq, ir_.CreateSelect(exists, at, f_.number(0)));
                Value* id = f_.value(store_.access.row, DType::i32);
                Value* is_own = ir_.CreateICmpULT(ir_.CreateSub(id, first_row),
                                                  ir_.getInt32(std::uint32_t(rows_)));
                found.push_back(ir_.CreateAnd(exists, is_own));
            });
        }
        f_.barrier();  // the words before have been read
        for (int look = 0; look < looks_; ++look) {
            Value* word = ir_.CreateIntrinsic(llvm::Intrinsic::nvvm_vote_ballot_sync, {},
                                              {ir_.getInt32(0xffffffff), found[std::size_t(look)]});
            Value* number =
                ir_.CreateAdd(warp, ir_.getInt32(std::uint32_t(look * threads_ / kWarp)));
            f_.when(ir_.CreateICmpEQ(lane, ir_.getInt32(0)),
                    [&] { ir_.CreateStore(word, word_at(number)); });
        }
        f_.barrier();
    }

    Value* word_at(Value* number) {
        return ir_.CreateInBoundsGEP(ir_.getInt32Ty(), words_, number);
    }

    /// Adds the rows of the bits that are set, the lowest first; a thread those of its own row.
    Values add_found(Value* row, Value* first, const Values& carried) {
        return f_.loop_carrying(
            f_.number(0), f_.number(words()), f_.number(1), carried,
            [&](Value* number, const Values& sum) {
                Value* word = ir_.CreateLoad(ir_.getInt32Ty(), word_at(number));
                Value* start = ir_.CreateNSWAdd(first, ir_.CreateNSWMul(number, f_.number(kWarp)));
                Value* bits = ir_.CreateZExt(ir_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, word),
                                             ir_.getInt64Ty());
                const Values after = f_.loop_carrying(
                    f_.number(0), bits, f_.number(1), {sum[0], word, sum[1]},
                    [&](Value*, const Values& rest) {
                        Value* bit = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, rest[1],
                                                               ir_.getTrue());
                        set_positions(
                            f_, nest_.seq,
                            ir_.CreateNSWAdd(start, ir_.CreateZExt(bit, ir_.getInt64Ty())));
                        Value* lower = ir_.CreateSub(rest[1], ir_.getInt32(1));
                        Value* is_own = rows_ == 1 ? ir_.getTrue() : is_of(row);
                        Value* more = ir_.CreateFAdd(rest[0], f_.value(store_.value, DType::f32));
                        return Values{ir_.CreateSelect(is_own, more, rest[0]),
                                      ir_.CreateAnd(rest[1], lower), ir_.CreateOr(rest[2], is_own)};
                    });
                return Values{after[0], after[2]};
            });
    }

    Value* is_of(Value* row) {
        return ir_.CreateICmpEQ(f_.value(store_.access.row, DType::i32), row);
    }

    const Kernel& kernel_;
    int threads_, looks_;  // ids that a thread looks at before the found rows are added
    LoopNest nest_;
    int rows_;  // of the table that a block adds to
    const Store& store_;
    Function f_;
    llvm::IRBuilder<>& ir_;
    Value* words_ = nullptr;
};

}  // namespace

std::optional<std::string> why_not_scatter(const Kernel& kernel) {
    const LoopNest nest = loop_nest(kernel);
    const Store* store = store_of(kernel, nest);
    if (!store || !store->accumulate || store->access.row < 0)
        return "it does more, one point after the other, than to add rows to a table";
    if (!nest.each.empty() || !nest.free.empty())
        return "it adds rows to a table at each of several points";
    const auto is_column = [&](AxisId axis) {
        return std::find(nest.par.begin(), nest.par.end(), axis) != nest.par.end();
    };
    for (const Stride& stride : store->access.strides)
        if (!is_column(stride.axis)) return "the place of a row depends on more than its id";
    for (AxisId axis : kernel.nodes[std::size_t(store->access.row)].axes)
        if (is_column(axis)) return "its ids differ from column to column";
    return std::nullopt;
}

PtxKernel write_scatter(llvm::Module& module, const Kernel& kernel,
                        const target::GpuScatter& target) {
    return Scatter(module, kernel, target).run();
}

}  // namespace fovea::emit::nvptx
