// The product of two tiles of floats: fused multiply-adds, in order along the depth.
#include "codegen/emit/nvptx/contraction/contraction_product.h"

namespace fovea::emit::nvptx {

using llvm::Value;

namespace {

constexpr int kScalarGroup = 4;

}  // namespace

ScalarProduct::ScalarProduct(const ContractionBlock& block, const OperandTiles& a,
                             const OperandTiles& b)
    : f_(block.f), ir_(block.f.ir()), plan_(block.plan), a_(a), b_(b) {
    const int elements = plan_.tile_rows * plan_.tile_columns / plan_.threads;
    row_groups_ = column_groups_ = elements == 64 ? 2 : 1;
    const int threads_across = plan_.tile_columns / (kScalarGroup * column_groups_);
    thread_row_ = ir_.CreateUDiv(f_.thread(), ir_.getInt32(unsigned(threads_across)));
    thread_column_ = ir_.CreateURem(f_.thread(), ir_.getInt32(unsigned(threads_across)));
}

Value* ScalarProduct::group(Value* thread, int number, int parts, int tile) const {
    return ir_.CreateAdd(ir_.CreateMul(thread, ir_.getInt32(kScalarGroup)),
                         ir_.getInt32(unsigned(number * (tile / parts))));
}

Values ScalarProduct::add(Value* a, Value* b, Values sums) {
    auto* four = llvm::FixedVectorType::get(ir_.getFloatTy(), kScalarGroup);
    const auto load = [&](const OperandTiles& tile, Value* from, Value* outer, int depth) {
        Value* at = tile.address(from, outer, ir_.getInt32(unsigned(depth)));
        Value* loaded = ir_.CreateAlignedLoad(four, at, llvm::Align(16));
        Values values;
        for (std::uint64_t i = 0; i < kScalarGroup; ++i)
            values.push_back(ir_.CreateExtractElement(loaded, i));
        return values;
    };
    for (int depth = 0; depth < plan_.tile_depth; ++depth) {
        Values rows, columns;
        for (int i = 0; i < row_groups_; ++i)
            for (Value* value :
                 load(a_, a, group(thread_row_, i, row_groups_, plan_.tile_rows), depth))
                rows.push_back(value);
        for (int i = 0; i < column_groups_; ++i)
            for (Value* value :
                 load(b_, b, group(thread_column_, i, column_groups_, plan_.tile_columns), depth))
                columns.push_back(value);
        for (std::size_t i = 0; i < rows.size(); ++i)
            for (std::size_t j = 0; j < columns.size(); ++j) {
                Value*& sum = sums[i * columns.size() + j];
                sum = ir_.CreateIntrinsic(llvm::Intrinsic::fma, {ir_.getFloatTy()},
                                          {rows[i], columns[j], sum});
            }
    }
    return sums;
}

std::vector<SumsInPlace> ScalarProduct::places() {
    std::vector<SumsInPlace> all;
    int first = 0;
    for (int i = 0; i < row_groups_; ++i)
        for (unsigned row = 0; row < kScalarGroup; ++row)
            for (int j = 0; j < column_groups_; ++j, first += kScalarGroup) {
                Value* group_row = group(thread_row_, i, row_groups_, plan_.tile_rows);
                all.push_back({first, kScalarGroup, ir_.CreateAdd(group_row, ir_.getInt32(row)),
                               group(thread_column_, j, column_groups_, plan_.tile_columns)});
            }
    return all;
}

}  // namespace fovea::emit::nvptx
