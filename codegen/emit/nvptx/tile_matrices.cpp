#include "codegen/emit/nvptx/tile_matrices.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "codegen/emit/nvptx/matrix_instructions.h"

namespace fovea::emit::nvptx {

using namespace kernel;
using llvm::Value;

namespace {

constexpr int kPiece = 8;  // elements that a thread copies at once, 16 bytes of bfloat16

}  // namespace

TileMatrices::TileMatrices(const TileMatrixPlan& plan, Function& function)
    : plan_(plan), f_(function), ir_(function.ir()) {
    memory_ = f_.shared(ir_.getInt8Ty(), std::size_t(plan.shared_bytes), "operands");
    lane_ = ir_.CreateAnd(f_.thread(), integer(31), "lane");
    first_row_ = ir_.CreateShl(ir_.CreateLShr(f_.thread(), 5), 4, "first_row");
}

Value* TileMatrices::address(Id load, Value* row, Value* column) {
    const TileMatrixPlan::Operand& operand = plan_.operands.at(load);
    Value* element =
        ir_.CreateNSWAdd(ir_.CreateNSWMul(row, integer(plan_.row_step(operand))), column);
    Value* bytes = ir_.CreateNSWAdd(ir_.CreateShl(element, 1), integer(operand.offset));
    return ir_.CreateInBoundsGEP(ir_.getInt8Ty(), memory_, bytes);
}

void TileMatrices::copy(Id load, Value* first, Value* end) {
    const TileMatrixPlan::Operand& operand = plan_.operands.at(load);
    const Access& access = as<Load>(plan_.kernel, load)->access;
    const int pieces = plan_.length(operand.column) / kPiece;
    const int all = plan_.length(operand.row) * pieces;
    llvm::Type* wide = ir_.getInt64Ty();
    Value* last = ir_.CreateNSWSub(end, f_.number(1));
    f_.loop(f_.thread(), integer(all), integer(f_.threads()), [&](Value* number) {
        Value* row = ir_.CreateUDiv(number, integer(pieces));
        Value* column = ir_.CreateNSWMul(ir_.CreateURem(number, integer(pieces)), integer(kPiece));
        Value* at = ir_.CreateNSWAdd(first, ir_.CreateZExt(row, wide));
        f_.set_position(operand.row, ir_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, at, last));
        Values words;
        Value* low = nullptr;
        for (int i = 0; i < kPiece; ++i) {
            Value* position = ir_.CreateNSWAdd(column, integer(i));
            f_.set_position(operand.column, ir_.CreateZExt(position, wide));
            Value* value = f_.load(access);
            if (i % 2) words.push_back(pair_of(ir_, low, value));
            low = value;
        }
        Value* vector = llvm::PoisonValue::get(llvm::FixedVectorType::get(ir_.getInt32Ty(), 4));
        for (unsigned i = 0; i < 4; ++i)
            vector = ir_.CreateInsertElement(vector, words[i], std::uint64_t(i));
        ir_.CreateAlignedStore(vector, address(load, row, column), llvm::Align(16));
    });
}

/// Lane 8 i + r names row r of matrix i: rows 0 and 8 of columns 0, then of columns 8.
Values TileMatrices::rows_of(Id load, int column) {
    Value* row = ir_.CreateAdd(first_row_, ir_.CreateAnd(lane_, 15));
    Value* at = ir_.CreateAdd(ir_.CreateShl(ir_.CreateLShr(lane_, 4), 3), integer(column));
    return load_matrices(ir_, address(load, row, at), false);
}

/// Matrices (columns, depth) = (0, 0), (0, 8), (8, 0), (8, 8); where the operand's rows are those
/// of the depth they lie transposed.
Values TileMatrices::columns_of(Id load, AxisId summed, int column, int depth) {
    Value* in_matrix = ir_.CreateAnd(lane_, 7);
    Value* second = ir_.CreateAnd(lane_, 8);
    Value* last_two = ir_.CreateLShr(ir_.CreateAnd(lane_, 16), 1);
    if (plan_.operands.at(load).row == summed) {
        Value* row = ir_.CreateAdd(ir_.CreateAdd(in_matrix, second), integer(depth));
        return load_matrices(ir_, address(load, row, ir_.CreateAdd(last_two, integer(column))),
                             true);
    }
    Value* row = ir_.CreateAdd(ir_.CreateAdd(in_matrix, last_two), integer(column));
    return load_matrices(ir_, address(load, row, ir_.CreateAdd(second, integer(depth))), false);
}

}  // namespace fovea::emit::nvptx
