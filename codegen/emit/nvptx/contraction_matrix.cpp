// The product of two tiles of bfloat16 by mma.sync.m16n8k16, whose registers ldmatrix fills from
// either layout of a tile.
#include <algorithm>

#include "codegen/emit/nvptx/contraction_product.h"
#include "codegen/emit/nvptx/matrix_instructions.h"

namespace fovea::emit::nvptx {

using llvm::Value;

namespace {

constexpr int kPiece = 16;  // rows of a piece, and its depth
constexpr int kColumns = 8;
constexpr int kWarp = 32;

/// Warps along the rows of a block's tile.
constexpr int kWarpsAlongRows = 2;

}  // namespace

MatrixProduct::MatrixProduct(const ContractionBlock& block, const OperandTiles& a,
                             const OperandTiles& b)
    : f_(block.f), ir_(block.f.ir()), plan_(block.plan), a_(a), b_(b) {
    const int warps_along_columns = plan_.threads / kWarp / kWarpsAlongRows;
    const int rows = plan_.tile_rows / kWarpsAlongRows;
    const int columns = plan_.tile_columns / warps_along_columns;
    row_pieces_ = rows / kPiece, column_pieces_ = columns / kColumns;
    Value* warp = ir_.CreateUDiv(f_.thread(), ir_.getInt32(kWarp));
    Value* across = ir_.getInt32(unsigned(warps_along_columns));
    lane_ = ir_.CreateURem(f_.thread(), ir_.getInt32(kWarp), "lane");
    first_row_ = ir_.CreateMul(ir_.CreateUDiv(warp, across), ir_.getInt32(unsigned(rows)));
    first_column_ = ir_.CreateMul(ir_.CreateURem(warp, across), ir_.getInt32(unsigned(columns)));
}

Value* MatrixProduct::plus(Value* value, int number) const {
    return ir_.CreateAdd(value, ir_.getInt32(unsigned(number)));
}

/// Lane 8 i + r names row r of matrix i; the matrices are (rows, depth) = (0, 0), (8, 0), (0, 8),
/// (8, 8), which in a tile with the rows inside lie transposed.
Values MatrixProduct::rows_of_a(Value* a, int piece, int depth) const {
    Value* in_matrix = ir_.CreateAnd(lane_, 7);
    Value* second = ir_.CreateAnd(lane_, 8);
    Value* last_two = ir_.CreateLShr(ir_.CreateAnd(lane_, 16), 1);
    Value* row = plus(first_row_, piece * kPiece);
    Value *at_row, *at_depth;
    if (a_.depth_inside()) {
        at_row = ir_.CreateAdd(row, ir_.CreateAdd(in_matrix, second));
        at_depth = plus(last_two, depth);
    } else {
        at_row = ir_.CreateAdd(row, second);
        at_depth = plus(ir_.CreateAdd(in_matrix, last_two), depth);
    }
    return load_matrices(ir_, a_.address(a, at_row, at_depth), !a_.depth_inside());
}

/// The matrices are (columns, depth) = (0, 0), (0, 8), (8, 0), (8, 8).
Values MatrixProduct::columns_of_b(Value* b, int pair, int depth) const {
    Value* in_matrix = ir_.CreateAnd(lane_, 7);
    Value* second = ir_.CreateAnd(lane_, 8);
    Value* last_two = ir_.CreateLShr(ir_.CreateAnd(lane_, 16), 1);
    Value* column = plus(first_column_, pair * 2 * kColumns);
    Value *at_column, *at_depth;
    if (b_.depth_inside()) {
        at_column = ir_.CreateAdd(column, ir_.CreateAdd(in_matrix, last_two));
        at_depth = plus(second, depth);
    } else {
        at_column = ir_.CreateAdd(column, last_two);
        at_depth = plus(ir_.CreateAdd(in_matrix, second), depth);
    }
    return load_matrices(ir_, b_.address(b, at_column, at_depth), !b_.depth_inside());
}

Values MatrixProduct::add(Value* a, Value* b, Values sums) {
    for (int depth = 0; depth < plan_.tile_depth; depth += kPiece) {
        std::vector<Values> rows;
        for (int i = 0; i < row_pieces_; ++i) rows.push_back(rows_of_a(a, i, depth));
        for (int pair = 0; pair < column_pieces_ / 2; ++pair) {
            const Values columns = columns_of_b(b, pair, depth);
            for (int i = 0; i < row_pieces_; ++i)
                for (int half = 0; half < 2; ++half) {
                    const auto at = std::size_t((i * column_pieces_ + 2 * pair + half) * 4);
                    const auto column = std::size_t(half) * 2;
                    const Values before(sums.begin() + std::ptrdiff_t(at),
                                        sums.begin() + std::ptrdiff_t(at + 4));
                    const Values after = multiply_matrices(
                        ir_, rows[std::size_t(i)], columns[column], columns[column + 1], before);
                    std::copy(after.begin(), after.end(), sums.begin() + std::ptrdiff_t(at));
                }
        }
    }
    return sums;
}

/// Lane 4 r + c has columns 2 c and 2 c + 1 of rows r and r + 8.
std::vector<SumsInPlace> MatrixProduct::places() {
    std::vector<SumsInPlace> all;
    Value* row = ir_.CreateAdd(first_row_, ir_.CreateLShr(lane_, 2));
    Value* column = ir_.CreateAdd(first_column_, ir_.CreateShl(ir_.CreateAnd(lane_, 3), 1));
    for (int i = 0; i < row_pieces_; ++i)
        for (int j = 0; j < column_pieces_; ++j)
            for (int half = 0; half < 2; ++half)
                all.push_back({(i * column_pieces_ + j) * 4 + 2 * half, 2,
                               plus(row, i * kPiece + half * 8), plus(column, j * kColumns)});
    return all;
}

}  // namespace fovea::emit::nvptx
