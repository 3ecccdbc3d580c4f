// The product of two tiles by mma.sync: m16n8k16 of halves, m16n8k8 of tf32. ldmatrix fills the
// registers, of halves from either layout of a tile; tf32 that lies along the outer axis is read
// element by element.
#include <algorithm>

#include "codegen/emit/nvptx/contraction/contraction_product.h"
#include "codegen/emit/nvptx/matrix_instructions.h"

namespace fovea::emit::nvptx {

using kernel::Factors;
using llvm::Value;

namespace {

constexpr int kPiece = 16, kColumns = 8;  // rows and columns of a piece
constexpr int kDepthBytes = 32;           // along its depth
constexpr int kEight = 8;                 // rows of a matrix that ldmatrix reads

/// Warps along the rows of a block's tile.
constexpr int kWarpsAlongRows = 2;

}  // namespace

MatrixProduct::MatrixProduct(const ContractionBlock& block, const OperandTiles& a,
                             const OperandTiles& b)
    : f_(block.f),
      ir_(block.f.ir()),
      plan_(block.plan),
      a_(a),
      b_(b),
      depth_(kDepthBytes / block.plan.element_bytes()) {
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

Value* MatrixProduct::where_bit(int bit, int number) const {
    Value* set = ir_.CreateAnd(ir_.CreateLShr(lane_, ir_.getInt32(unsigned(bit))), 1);
    return ir_.CreateMul(set, ir_.getInt32(unsigned(number)));
}

Values MatrixProduct::four_matrices(const OperandTiles& tile, Value* from, Value* outer, int depth,
                                    bool along_depth) const {
    Value* first = ir_.getInt32(unsigned(depth));
    const bool by_ldmatrix = tile.depth_inside() || is_half(plan_.factors);
    Values registers = by_ldmatrix ? read_matrices(tile, from, outer, first, along_depth)
                                   : read_elements(tile, from, outer, first, along_depth);
    if (!tile.must_be_rounded()) return registers;
    for (Value*& bits : registers) {
        Value* rounded = rounded_to_tf32(ir_, ir_.CreateBitCast(bits, ir_.getFloatTy()));
        bits = ir_.CreateBitCast(rounded, ir_.getInt32Ty());
    }
    return registers;
}

/// Lane 8 i + r names row r of matrix i; where the outer positions are neighbours they lie
/// transposed.
Values MatrixProduct::read_matrices(const OperandTiles& tile, Value* from, Value* outer,
                                    Value* depth, bool along_depth) const {
    Value* in_matrix = ir_.CreateAnd(lane_, kEight - 1);
    outer = ir_.CreateAdd(outer, where_bit(along_depth ? 4 : 3, kEight));
    depth = ir_.CreateAdd(depth, where_bit(along_depth ? 3 : 4, depth_ / 2));
    Value*& row = tile.depth_inside() ? outer : depth;
    row = ir_.CreateAdd(row, in_matrix);
    return load_matrices(ir_, tile.address(from, outer, depth), !tile.depth_inside());
}

/// Lane 4 r + c reads floats at (r, c) of each matrix.
Values MatrixProduct::read_elements(const OperandTiles& tile, Value* from, Value* outer,
                                    Value* depth, bool along_depth) const {
    outer = ir_.CreateAdd(outer, ir_.CreateLShr(lane_, 2));
    depth = ir_.CreateAdd(depth, ir_.CreateAnd(lane_, 3));
    Values registers;
    for (int i = 0; i < 4; ++i) {
        const int low = i & 1, high = i >> 1;
        Value* at = tile.address(from, plus(outer, (along_depth ? high : low) * kEight),
                                 plus(depth, (along_depth ? low : high) * (depth_ / 2)));
        registers.push_back(ir_.CreateLoad(ir_.getInt32Ty(), at));
    }
    return registers;
}

Values MatrixProduct::add(Value* a, Value* b, Values sums) {
    for (int depth = 0; depth < plan_.tile_depth; depth += depth_) {
        std::vector<Values> rows;
        for (int i = 0; i < row_pieces_; ++i)
            rows.push_back(four_matrices(a_, a, plus(first_row_, i * kPiece), depth, false));
        for (int pair = 0; pair < column_pieces_ / 2; ++pair) {
            // Those of the first 8 columns, then of the others.
            const Values columns =
                four_matrices(b_, b, plus(first_column_, pair * 2 * kColumns), depth, true);
            for (int i = 0; i < row_pieces_; ++i)
                for (int half = 0; half < 2; ++half) {
                    const auto at = std::size_t((i * column_pieces_ + 2 * pair + half) * 4);
                    const auto column = std::size_t(half) * 2;
                    const Values before(sums.begin() + std::ptrdiff_t(at),
                                        sums.begin() + std::ptrdiff_t(at + 4));
                    const Values after =
                        multiply_matrices(ir_, rows[std::size_t(i)], columns[column],
                                          columns[column + 1], before, plan_.factors);
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
