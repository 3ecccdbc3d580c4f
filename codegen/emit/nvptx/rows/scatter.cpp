// Rows added to a table by id: a block for a few rows of the table and all or some of its columns
// goes over all ids in order, so that sums are always taken in the same order, without atomics.
// Threads look for the block's ids in many places at once, then add what was found, each to one
// column, and among few columns to some of the block's rows. A thread keeps the sum of a row until
// the next id is of another one.
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

constexpr int kFewThreads = 128;
/// Found rows that a thread reads at a time: their loads do not wait for each other.
constexpr int kReadAhead = 4;

/// Who adds what in a block.
struct Shape {
    int threads;
    int groups;  // of threads, each with a row of its own at a time; 1: there may be more columns
    int rows;  // of the table, a multiple of the groups
};

Shape shape_of(const Kernel& kernel, const LoopNest& nest, const target::GpuScatter& target) {
    const std::int64_t few = std::min(kFewThreads, target.threads);
    std::int64_t columns = 1;
    for (AxisId axis : nest.par) {
        const Dim& extent = kernel.axes[std::size_t(axis)].extent;
        if (!extent.is_static()) return {int(few), 1, target.rows};
        columns *= std::max<std::int64_t>(extent.value(), 1);
    }
    const std::int64_t blocks = (columns + target.threads - 1) / target.threads;
    const std::int64_t warps = ((columns + blocks - 1) / blocks + kWarp - 1) / kWarp;
    const int threads = int(std::max(few, warps * kWarp));
    const int groups = int(std::max<std::int64_t>(threads / columns, 1));
    return {threads, groups, (target.rows + groups - 1) / groups * groups};
}

class Scatter {
  public:
    Scatter(llvm::Module& module, const Kernel& kernel, const target::GpuScatter& target)
        : kernel_(kernel),
          looks_(target.looks),
          nest_(loop_nest(kernel)),
          shape_(shape_of(kernel, nest_, target)),
          store_(*store_of(kernel, nest_)),
          f_(module, kernel, kernel.name, shape_.threads),
          ir_(f_.ir()) {}

    PtxKernel run() {
        place_ = shape_.groups > 1 ? among_groups() : along_row();
        set_positions(f_, nest_.par, place_.column);
        words_ = f_.shared(ir_.getInt32Ty(), std::size_t(words()), "found");
        Value* count = count_of(f_, nest_.seq);
        const Values none{float_constant(ir_, 0), ir_.getInt32(std::uint32_t(kNoRow))};
        const Values sum = f_.loop_carrying(f_.number(0), count, f_.number(looks_ * shape_.threads),
                                            none, [&](Value* first, const Values& carried) {
                                                find(first, count);
                                                return add_found(first, carried);
                                            });
        add_to_table(sum, ir_.getTrue());
        f_.finish();
        return {kernel_.name, {launch()}, {}};
    }

  private:
    static constexpr int kNoRow = -1;

    /// The first row (i32) of a thread's block, and the thread's group (i32) and column.
    struct Place {
        Value *first, *group, *column;
        Value* is_taken;  // whether there are such a group and such a column
    };

    int words() const { return looks_ * shape_.threads / kWarp; }
    const Dim& table_rows() const {
        return kernel_.buffers[std::size_t(store_.access.buffer)].shape[0];
    }
    Value* wide_thread() { return ir_.CreateZExt(f_.thread(), ir_.getInt64Ty()); }
    Value* first_row(Value* block) {
        return ir_.CreateTrunc(ir_.CreateNSWMul(block, f_.number(shape_.rows)), ir_.getInt32Ty(),
                               "first_row");
    }

    /// Of a block whose threads have a column each, all or some of them.
    Place along_row() {
        Value* columns = count_of(f_, nest_.par);
        Value* threads = f_.number(shape_.threads);
        Value* strips =
            ir_.CreateUDiv(ir_.CreateNSWAdd(columns, f_.number(shape_.threads - 1)), threads);
        Value* strip = ir_.CreateURem(f_.block(), strips);
        Value* column = ir_.CreateNSWAdd(ir_.CreateNSWMul(strip, threads), wide_thread());
        Value* is_column = ir_.CreateICmpSLT(column, columns);
        Value* last = ir_.CreateNSWSub(columns, f_.number(1));
        return {first_row(ir_.CreateUDiv(f_.block(), strips)), ir_.getInt32(0),
                ir_.CreateSelect(is_column, column, last), is_column};
    }
    /// Of a block with several groups of threads, each with all columns.
    Place among_groups() {
        Value* columns = count_of(f_, nest_.par);
        Value* group =
            ir_.CreateTrunc(ir_.CreateUDiv(wide_thread(), columns), ir_.getInt32Ty(), "group");
        return {first_row(f_.block()), group, ir_.CreateURem(wide_thread(), columns),
                ir_.CreateICmpSLT(group, ir_.getInt32(std::uint32_t(shape_.groups)))};
    }

    PtxLaunch launch() const {
        PtxLaunch result{kernel_.name, {}, shape_.threads, 0};
        if (shape_.groups == 1) result.grid = grid_of(kernel_, nest_.par, shape_.threads);
        result.grid.push_back({table_rows(), shape_.rows});
        return result;
    }

    /// Writes a word of bits for each 32 ids, from `begin` on: those of the block's rows. No id is
    /// a row behind the last.
    void find(Value* begin, Value* count) {
        Value* first = ir_.CreateNSWAdd(begin, wide_thread());
        Value* lane = ir_.CreateAnd(f_.thread(), kWarp - 1);
        Value* warp = ir_.CreateLShr(f_.thread(), 5);
        Values found;
        for (int look = 0; look < looks_; ++look) {
            Value* at = ir_.CreateNSWAdd(first, f_.number(look * shape_.threads));
            Value* exists = ir_.CreateICmpSLT(at, count);
            f_.scope([&] {
                set_positions(f_, nest_.seq, ir_.CreateSelect(exists, at, f_.number(0)));
                Value* is_own = ir_.CreateICmpULT(ir_.CreateSub(id(), place_.first),
                                                  ir_.getInt32(std::uint32_t(shape_.rows)));
                found.push_back(ir_.CreateAnd(exists, is_own));
            });
        }
        f_.barrier();  // the words before have been read
        for (int look = 0; look < looks_; ++look) {
            Value* word = ir_.CreateIntrinsic(llvm::Intrinsic::nvvm_vote_ballot_sync, {},
                                              {ir_.getInt32(0xffffffff), found[std::size_t(look)]});
            Value* number =
                ir_.CreateAdd(warp, ir_.getInt32(std::uint32_t(look * shape_.threads / kWarp)));
            f_.when(ir_.CreateICmpEQ(lane, ir_.getInt32(0)),
                    [&] { ir_.CreateStore(word, word_at(number)); });
        }
        f_.barrier();
    }

    Value* id() { return f_.value(store_.access.row, DType::i32); }
    Value* word_at(Value* number) {
        return ir_.CreateInBoundsGEP(ir_.getInt32Ty(), words_, number);
    }

    /// Adds the rows of the bits that are set, the lowest first. Carried: a sum, and its row.
    Values add_found(Value* first, const Values& carried) {
        return f_.loop_carrying(
            f_.number(0), f_.number(words()), f_.number(1), carried,
            [&](Value* number, const Values& sum) {
                Value* word = ir_.CreateLoad(ir_.getInt32Ty(), word_at(number));
                Value* start = ir_.CreateNSWAdd(first, ir_.CreateNSWMul(number, f_.number(kWarp)));
                Value* bits = ir_.CreateZExt(ir_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, word),
                                             ir_.getInt64Ty());
                const Values after = f_.loop_carrying(
                    f_.number(0), bits, f_.number(kReadAhead), {sum[0], sum[1], word},
                    [&](Value*, const Values& rest) { return add_some(start, rest); });
                return Values{after[0], after[1]};
            });
    }

    /// An id that was found, or none: the row (i32), and what is added to the thread's column.
    struct Found {
        Value *exists, *row, *value;
    };

    /// The place of the lowest bit of a word, or the word's first place.
    Found read(Value* start, Value* word) {
        Value* exists = ir_.CreateICmpNE(word, ir_.getInt32(0));
        Value* bit = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, word, ir_.getFalse());
        bit = ir_.CreateSelect(exists, bit, ir_.getInt32(0));
        Found found{exists, nullptr, nullptr};
        f_.scope([&] {
            set_positions(f_, nest_.seq,
                          ir_.CreateNSWAdd(start, ir_.CreateZExt(bit, ir_.getInt64Ty())));
            found.row = id(), found.value = f_.value(store_.value, DType::f32);
        });
        return found;
    }

    /// Carried: a sum, its row, and the bits that are left.
    Values add_some(Value* start, const Values& carried) {
        Value* word = carried[2];
        std::vector<Found> found;
        for (int i = 0; i < kReadAhead; ++i) {
            found.push_back(read(start, word));
            word = ir_.CreateAnd(word, ir_.CreateSub(word, ir_.getInt32(1)));
        }
        Values sum{carried[0], carried[1]};
        for (const Found& one : found) {
            Value* is_own = ir_.CreateAnd(one.exists, is_of_group(one.row));
            Value* is_new = ir_.CreateAnd(is_own, ir_.CreateICmpNE(one.row, sum[1]));
            add_to_table(sum, is_new);
            Value* more = ir_.CreateFAdd(sum[0], one.value);
            more = ir_.CreateSelect(is_new, one.value, more);
            sum = {ir_.CreateSelect(is_own, more, sum[0]),
                   ir_.CreateSelect(is_own, one.row, sum[1])};
        }
        return {sum[0], sum[1], word};
    }

    Value* is_of_group(Value* row) {
        if (shape_.groups == 1) return ir_.getTrue();
        Value* in_block = ir_.CreateSub(row, place_.first);
        Value* groups = ir_.getInt32(std::uint32_t(shape_.groups));
        return ir_.CreateICmpEQ(ir_.CreateURem(in_block, groups), place_.group);
    }

    /// Adds a sum to its row of the table, where there is one and the condition holds.
    void add_to_table(const Values& sum, Value* condition) {
        Value* is_row = ir_.CreateICmpNE(sum[1], ir_.getInt32(std::uint32_t(kNoRow)));
        Value* is_added = ir_.CreateAnd(condition, ir_.CreateAnd(is_row, place_.is_taken));
        f_.when(is_added, [&] {
            Access to = store_.access;
            to.row = -1;
            Value* row = ir_.CreateSExt(sum[1], ir_.getInt64Ty());
            Value* element =
                ir_.CreateNSWAdd(f_.element(to), ir_.CreateNSWMul(row, f_.dim(to.row_stride)));
            f_.store_at(to.buffer, element, ir_.CreateFAdd(f_.load_at(to.buffer, element), sum[0]));
        });
    }

    const Kernel& kernel_;
    int looks_;  // ids that a thread looks at before the found rows are added
    LoopNest nest_;
    Shape shape_;
    const Store& store_;
    Function f_;
    llvm::IRBuilder<>& ir_;
    Place place_{};
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
