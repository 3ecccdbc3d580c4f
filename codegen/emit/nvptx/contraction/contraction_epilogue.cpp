#include "codegen/emit/nvptx/contraction/contraction_epilogue.h"

namespace fovea::emit::nvptx {

using llvm::Value;

namespace {

/// Floats after each row of the sums in shared memory, against conflicts of banks.
constexpr int kSumsPadding = 8;
/// Columns of which a thread writes the elements, where rows are multiples of so many.
constexpr int kSideBySide = 4;

}  // namespace

int TileEpilogue::row_floats() const { return plan_.tile_columns + kSumsPadding; }

int TileEpilogue::bytes() const { return plan_.tile_rows * row_floats() * 4; }

Value* TileEpilogue::sum_address(Value* row, Value* column) const {
    Value* at = ir_.CreateAdd(ir_.CreateMul(row, ir_.getInt32(unsigned(row_floats()))), column);
    return ir_.CreateGEP(ir_.getFloatTy(), memory_, at);
}

void TileEpilogue::store_sums(const Values& sums, const std::vector<SumsInPlace>& places) const {
    for (const SumsInPlace& place : places) {
        auto* type = llvm::FixedVectorType::get(ir_.getFloatTy(), unsigned(place.count));
        Value* all = llvm::UndefValue::get(type);
        for (int i = 0; i < place.count; ++i)
            all =
                ir_.CreateInsertElement(all, sums[std::size_t(place.first + i)], std::uint64_t(i));
        ir_.CreateAlignedStore(all, sum_address(place.row, place.column),
                               llvm::Align(std::uint64_t(place.count) * 4));
    }
}

/// Neighbouring threads take neighbouring groups of columns, of several rows at a time.
void TileEpilogue::write_elements() const {
    llvm::Type* wide = ir_.getInt64Ty();
    const Dim& columns = f_.kernel().axes[std::size_t(plan_.columns)].extent;
    const int width = columns.divisible_by(Dim(kSideBySide)) ? kSideBySide : 1;
    const int threads_across = plan_.own_columns() / width;
    Value* across = ir_.getInt32(unsigned(threads_across));
    Value* in_tile =
        ir_.CreateMul(ir_.CreateURem(f_.thread(), across), ir_.getInt32(unsigned(width)));
    Value* column = ir_.CreateAdd(block_.first_column, ir_.CreateZExt(in_tile, wide), "column");
    Value* first = ir_.CreateZExt(ir_.CreateUDiv(f_.thread(), across), wide);
    Value* left = ir_.CreateSub(f_.extent(plan_.rows), block_.first_row);
    Value* rows =
        ir_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, left, f_.number(plan_.tile_rows));
    f_.when(ir_.CreateICmpULT(column, f_.extent(plan_.columns)), [&] {
        f_.set_position(plan_.columns, column);
        const int step = plan_.threads / threads_across;
        f_.loop(first, rows, f_.number(step), [&](Value* row) {
            f_.set_position(plan_.rows, ir_.CreateAdd(block_.first_row, row));
            Value* from = sum_address(ir_.CreateTrunc(row, ir_.getInt32Ty()), in_tile);
            const Values sums = load_sums(from, width);
            if (plan_.before < 0) return write_epilogue(block_, sums);
            Value* second = f_.ir().CreateGEP(ir_.getFloatTy(), from,
                                              ir_.getInt32(unsigned(plan_.own_columns())));
            write_epilogue(block_, sums, load_sums(second, width));
        });
    });
}

Values TileEpilogue::load_sums(Value* from, int count) const {
    auto* type = llvm::FixedVectorType::get(ir_.getFloatTy(), unsigned(count));
    Value* all = ir_.CreateAlignedLoad(type, from, llvm::Align(std::uint64_t(count) * 4));
    Values sums;
    for (int i = 0; i < count; ++i) sums.push_back(ir_.CreateExtractElement(all, std::uint64_t(i)));
    return sums;
}

}  // namespace fovea::emit::nvptx
