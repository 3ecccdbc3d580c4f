// A tile of two axes is cut into pieces of up to 4 x 4 elements a thread, its threads in rows of
// up to 16; the rows and columns of a thread lie apart by those of all threads, so that neighbours
// read neighbouring memory. An element of a tile of one axis has a few neighbouring threads, which
// share its sums. What lies past the end of a buffer is computed as its last row and not written.
#include "codegen/emit/nvptx/tiles/tile_elements.h"

#include <algorithm>
#include <bit>

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "codegen/base/error.h"

namespace fovea::emit::nvptx {

using namespace kernel;
using llvm::Value;

namespace {

constexpr unsigned kTileSpace = 3;

int pieces(int length, int size) { return (length + size - 1) / size; }

}  // namespace

TileElements::TileElements(const TilePlan& plan, Function& function) : plan_(plan), f_(function) {
    int at = 0;
    llvm::Module& module = *f_.llvm_function().getParent();
    const int bytes = plan.shared_bytes();
    const bool dynamic = plan.dynamic_bytes() > 0;
    auto* type = llvm::ArrayType::get(f_.ir().getFloatTy(), dynamic ? 0 : unsigned(bytes / 4));
    llvm::Constant* initial = dynamic ? nullptr : llvm::UndefValue::get(type);
    auto* memory = new llvm::GlobalVariable(
        module, type, false,
        dynamic ? llvm::GlobalValue::ExternalLinkage : llvm::GlobalValue::InternalLinkage, initial,
        f_.llvm_function().getName() + "_tiles", nullptr, llvm::GlobalValue::NotThreadLocal,
        kTileSpace);
    memory->setAlignment(llvm::Align(16));
    for (const auto& [id, axes] : plan.arrays) {
        arrays_[id] =
            f_.ir().CreateConstInBoundsGEP1_32(f_.ir().getFloatTy(), memory, unsigned(at));
        at += (plan.array_length(axes) + 3) / 4 * 4;
    }
    for (AxisId axis = 0; axis < AxisId(plan.kernel.axes.size()); ++axis) {
        const Dim& extent = plan.kernel.axes[std::size_t(axis)].extent;
        if (extent.is_static() && !plan.tiles.contains(axis))
            tiles_[axis] = {f_.number(0), integer(int(extent.value()))};
    }
}

void TileElements::set_tile(AxisId axis, Value* first, Value* count) {
    tiles_[axis] = {first, count};
}

TileElements::Place TileElements::place(AxisId axis, Value* local) {
    llvm::IRBuilder<>& ir = f_.ir();
    const Tile& tile = tiles_.at(axis);
    Place result{axis};
    result.exists = ir.CreateICmpSLT(local, tile.count);
    Value* last = ir.CreateNSWSub(tile.count, integer(1));
    result.local = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin, local, last);
    result.position = ir.CreateNSWAdd(tile.first, ir.CreateZExt(result.local, ir.getInt64Ty()));
    return result;
}

void TileElements::go_to(const Place& place) {
    locals_[place.axis] = place.local;
    f_.set_position(place.axis, place.position);
}

void TileElements::go_to(const Places& places) {
    for (const Place& place : places) go_to(place);
}

Value* TileElements::exists(const Places& places) {
    Value* result = f_.ir().getTrue();
    for (const Place& place : places) result = f_.ir().CreateAnd(result, place.exists);
    return result;
}

Value* TileElements::array_element(Id array) {
    llvm::IRBuilder<>& ir = f_.ir();
    const std::vector<AxisId>& axes = plan_.arrays.at(array);
    Value* at = integer(0);
    for (std::size_t i = 0; i < axes.size(); ++i) {
        Value* local = locals_.at(axes[i]);
        if (i == 0 && axes.size() == 2)
            local = ir.CreateNSWMul(local, integer(plan_.row_length(axes)));
        at = ir.CreateNSWAdd(at, local);
    }
    return ir.CreateInBoundsGEP(ir.getFloatTy(), arrays_.at(array), at);
}

void TileElements::load_reads(const std::vector<TileRead>& reads, bool of_sums) {
    for (const TileRead& read : reads)
        if (read.in_sum == of_sums)
            f_.define(read.node, f_.ir().CreateLoad(f_.ir().getFloatTy(),
                                                    array_element(plan_.kept.at(read.node))));
}

void TileElements::write(const TileStep& step) {
    f_.scope([&] {
        if (step.axes.empty()) write_one(step);
        else if (step.axes.size() == 1) write_row(step);
        else write_matrix(step);
    });
}

/// Every warp computes the one element, and the first thread writes it.
void TileElements::write_one(const TileStep& step) {
    Values sums;
    for (Id id : step.sums) sums.push_back(sum(id, {{}}, kWarp)[0]);
    f_.when(f_.ir().CreateICmpEQ(f_.thread(), integer(0)),
            [&] { put(step, element_value(step, sums)); });
}

void TileElements::write_row(const TileStep& step) {
    llvm::IRBuilder<>& ir = f_.ir();
    const int length = plan_.length(step.axes[0]);
    const int rounded = int(std::bit_ceil(unsigned(length)));
    const int lanes = std::clamp(plan_.target.tiles.threads / rounded, 1, kWarp);
    const int at_once = plan_.target.tiles.threads / lanes;
    Value* own = ir.CreateUDiv(f_.thread(), integer(lanes));
    f_.loop(integer(0), integer(length), integer(at_once), [&](Value* first) {
        const Places places{place(step.axes[0], ir.CreateNSWAdd(first, own))};
        go_to(places);
        Values sums;
        for (Id id : step.sums) sums.push_back(sum(id, {places}, lanes)[0]);
        Value* writes = ir.CreateICmpEQ(ir.CreateAnd(f_.thread(), integer(lanes - 1)), integer(0));
        f_.when(ir.CreateAnd(writes, exists(places)),
                [&] { put(step, element_value(step, sums)); });
    });
}

void TileElements::write_matrix(const TileStep& step) {
    llvm::IRBuilder<>& ir = f_.ir();
    const int rows = plan_.length(step.axes[0]), columns = plan_.length(step.axes[1]);
    const int column_threads =
        std::min(plan_.target.tiles.row_threads, int(std::bit_ceil(unsigned(columns))));
    const int row_threads = plan_.target.tiles.threads / column_threads;
    const int row_piece = std::min(plan_.target.tiles.piece, pieces(rows, row_threads));
    const int column_piece = std::min(plan_.target.tiles.piece, pieces(columns, column_threads));
    Value* row = ir.CreateUDiv(f_.thread(), integer(column_threads));
    Value* column = ir.CreateAnd(f_.thread(), integer(column_threads - 1));
    f_.loop(integer(0), integer(rows), integer(row_threads * row_piece), [&](Value* first_row) {
        f_.loop(integer(0), integer(columns), integer(column_threads * column_piece),
                [&](Value* first_column) {
                    write_block(step, ir.CreateNSWAdd(first_row, row),
                                ir.CreateNSWAdd(first_column, column), row_piece, column_piece,
                                row_threads, column_threads);
                });
    });
}

void TileElements::write_block(const TileStep& step, Value* first_row, Value* first_column,
                               int rows, int columns, int row_step, int column_step) {
    llvm::IRBuilder<>& ir = f_.ir();
    Places all_rows, all_columns;
    for (int i = 0; i < rows; ++i)
        all_rows.push_back(place(step.axes[0], ir.CreateNSWAdd(first_row, integer(i * row_step))));
    for (int j = 0; j < columns; ++j)
        all_columns.push_back(
            place(step.axes[1], ir.CreateNSWAdd(first_column, integer(j * column_step))));
    std::vector<Places> elements;
    for (const Place& row : all_rows)
        for (const Place& column : all_columns) elements.push_back({row, column});

    std::vector<Values> sums;
    for (Id id : step.sums) sums.push_back(sum(id, elements, 1));
    for (std::size_t i = 0; i < elements.size(); ++i) {
        Values own;
        for (const Values& one : sums) own.push_back(one[i]);
        f_.when(exists(elements[i]), [&] {
            go_to(elements[i]);
            put(step, element_value(step, own));
        });
    }
}

Value* TileElements::element_value(const TileStep& step, const Values& sums) {
    load_reads(reads_of(plan_, step), false);
    for (std::size_t i = 0; i < sums.size(); ++i) f_.define(step.sums[i], sums[i]);
    const DType dtype =
        step.kind == TileStep::Kind::store
            ? plan_.kernel.buffers[std::size_t(as<Store>(plan_.kernel, step.node)->access.buffer)]
                  .dtype
            : DType::f32;
    return f_.value(step.value, dtype);
}

void TileElements::put(const TileStep& step, Value* value) {
    if (step.kind != TileStep::Kind::store) {
        f_.ir().CreateStore(value, array_element(step.array));
        return;
    }
    const Store& store = *as<Store>(plan_.kernel, step.node);
    if (store.accumulate) value = f_.ir().CreateFAdd(f_.load(store.access), value);
    f_.store(store.access, value);
}

TileElements::Range TileElements::range_of(Id bound) {
    llvm::IRBuilder<>& ir = f_.ir();
    Range range;
    const std::vector<AxisId>& axes = plan_.kernel.nodes[std::size_t(bound)].axes;
    f_.scope([&] {
        const auto value = [&] {
            load_reads(reads_of(plan_, bound), false);
            return f_.value(bound, DType::i32);
        };
        Value *largest = nullptr, *lowest = nullptr;  // of the numbers, and of their negatives
        if (axes.empty()) {
            largest = value();
            lowest = ir.CreateNSWNeg(largest);
        } else {
            Value* lane = ir.CreateAnd(f_.thread(), integer(kWarp - 1));
            for (int first = 0; first < plan_.length(axes[0]); first += kWarp) {
                go_to(place(axes[0], ir.CreateNSWAdd(lane, integer(first))));
                Value* one = value();
                Value* negative = ir.CreateNSWNeg(one);
                largest = first ? f_.combine(Reduction::max, largest, one) : one;
                lowest = first ? f_.combine(Reduction::max, lowest, negative) : negative;
            }
            largest = f_.group_reduce(Reduction::max, largest, kWarp);
            lowest = f_.group_reduce(Reduction::max, lowest, kWarp);
        }
        range.largest = ir.CreateSExt(largest, ir.getInt64Ty());
        range.smallest = ir.CreateNSWNeg(ir.CreateSExt(lowest, ir.getInt64Ty()));
    });
    return range;
}

}  // namespace fovea::emit::nvptx
