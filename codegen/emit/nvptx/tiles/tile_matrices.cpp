#include "codegen/emit/nvptx/tiles/tile_matrices.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "codegen/emit/nvptx/contraction/contraction_block.h"
#include "codegen/emit/nvptx/halves.h"
#include "codegen/emit/nvptx/matrix_instructions.h"

namespace fovea::emit::nvptx {

using namespace kernel;
using llvm::Value;

namespace {

constexpr int kCopiedPiece = 8;  // elements that a thread copies at once, 16 bytes of halves

}  // namespace

TileMatrices::TileMatrices(const TileMatrixPlan& plan, Function& function)
    : plan_(plan), f_(function), ir_(function.ir()) {
    memory_ = dynamic_shared(*f_.llvm_function().getParent());
    lane_ = ir_.CreateAnd(f_.thread(), integer(31), "lane");
    first_row_ = ir_.CreateShl(ir_.CreateLShr(f_.thread(), 5), 4, "first_row");
}

Value* TileMatrices::stage_of(Value* at) {
    Value* tile =
        ir_.CreateTrunc(ir_.CreateUDiv(at, f_.number(plan_.tile_columns)), ir_.getInt32Ty());
    Value* number = ir_.CreateAnd(tile, integer(TileMatrixPlan::kStages - 1));
    return ir_.CreateNSWMul(number, integer(plan_.stage_bytes), "stage");
}

void TileMatrices::enter_tile(Value* at) { stage_ = plan_.stage_bytes ? stage_of(at) : nullptr; }

Value* TileMatrices::address(const TileMatrixPlan::Operand& operand, Value* stage, Value* row,
                             Value* column, int more_rows, int more_columns) {
    Value* bytes = ir_.CreateShl(column, 1);
    if (plan_.is_swizzled(operand))
        bytes = ir_.CreateXor(bytes, ir_.CreateShl(ir_.CreateAnd(row, 7), 4));
    bytes = ir_.CreateXor(bytes, integer(2 * more_columns));
    bytes = ir_.CreateNSWAdd(ir_.CreateNSWMul(row, integer(plan_.row_bytes(operand))), bytes);
    Value* base = operand.has_stages() ? at_byte(f_, memory_, stage) : memory_;
    return at_byte(f_, at_byte(f_, base, bytes),
                   integer(operand.offset + more_rows * plan_.row_bytes(operand)));
}

void TileMatrices::copy(Id load, Value* first, Value* end) {
    f_.scope([&] {
        if (plan_.operands.at(load).is_asynchronous()) start_copy(load, first, end);
        else copy_through_registers(load, first, end);
    });
}

void TileMatrices::over_pieces(const TileMatrixPlan::Operand& operand, const Body& body) {
    const int pieces = plan_.length(operand.column) / kCopiedPiece;
    const int all = plan_.length(operand.row) * pieces;
    const auto at = [&](Value* number) {
        body(ir_.CreateUDiv(number, integer(pieces)),
             ir_.CreateNSWMul(ir_.CreateURem(number, integer(pieces)), integer(kCopiedPiece)));
    };
    if (!operand.is_asynchronous() || all % f_.threads() != 0) {
        f_.loop(f_.thread(), integer(all), integer(f_.threads()), at);
        return;
    }
    for (int first = 0; first < all; first += f_.threads())
        at(ir_.CreateNUWAdd(f_.thread(), integer(first)));
}

void TileMatrices::copy_through_registers(Id load, Value* first, Value* end) {
    const TileMatrixPlan::Operand& operand = plan_.operands.at(load);
    const Access& access = as<Load>(plan_.kernel, load)->access;
    llvm::Type* wide = ir_.getInt64Ty();
    Value* last = ir_.CreateNSWSub(end, f_.number(1));
    over_pieces(operand, [&](Value* row, Value* column) {
        Value* at = ir_.CreateNSWAdd(first, ir_.CreateZExt(row, wide));
        f_.set_position(operand.row, ir_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, at, last));
        Values words;
        Value* low = nullptr;
        for (int i = 0; i < kCopiedPiece; ++i) {
            Value* position = ir_.CreateNSWAdd(column, integer(i));
            f_.set_position(operand.column, ir_.CreateZExt(position, wide));
            Value* value = f_.load(access);
            if (i % 2) words.push_back(pair_of(ir_, plan_.half, low, value));
            low = value;
        }
        Value* vector = llvm::PoisonValue::get(llvm::FixedVectorType::get(ir_.getInt32Ty(), 4));
        for (unsigned i = 0; i < 4; ++i)
            vector = ir_.CreateInsertElement(vector, words[i], std::uint64_t(i));
        ir_.CreateAlignedStore(vector, address(operand, nullptr, row, column), llvm::Align(16));
    });
}

void TileMatrices::start_copy(Id load, Value* first, Value* end) {
    const TileMatrixPlan::Operand& operand = plan_.operands.at(load);
    const Access& access = as<Load>(plan_.kernel, load)->access;
    llvm::Type* wide = ir_.getInt64Ty();
    Value* stage = operand.has_stages() ? stage_of(first) : nullptr;
    over_pieces(operand, [&](Value* row, Value* column) {
        Value* at = ir_.CreateNSWAdd(first, ir_.CreateZExt(row, wide));
        Value* exists = ir_.CreateICmpSLT(at, end);
        f_.set_position(operand.row, ir_.CreateSelect(exists, at, first));
        f_.set_position(operand.column, ir_.CreateZExt(column, wide));
        ir_.CreateIntrinsic(llvm::Intrinsic::nvvm_cp_async_cg_shared_global_16_s, {},
                            {address(operand, stage, row, column), f_.address(access),
                             ir_.CreateSelect(exists, integer(2 * kCopiedPiece), integer(0))});
    });
}

void TileMatrices::end_group() {
    ir_.CreateIntrinsic(llvm::Intrinsic::nvvm_cp_async_commit_group, {}, {});
}

void TileMatrices::wait_for_copies(int left) {
    ir_.CreateIntrinsic(llvm::Intrinsic::nvvm_cp_async_wait_group, {}, {integer(left)});
}

/// Lane 8 i + r names row r of matrix i: rows 0 and 8 of columns 0, then of columns 8.
Values TileMatrices::rows_of(Id load, int column) {
    Value* row = ir_.CreateAdd(first_row_, ir_.CreateAnd(lane_, 15));
    Value* half = ir_.CreateShl(ir_.CreateLShr(lane_, 4), 3);
    return load_matrices(ir_, address(plan_.operands.at(load), stage_, row, half, 0, column),
                         false);
}

/// Matrices (columns, depth) = (0, 0), (0, 8), (8, 0), (8, 8); where the operand's rows are those
/// of the depth they lie transposed.
Values TileMatrices::columns_of(Id load, AxisId summed, int column, int depth) {
    const TileMatrixPlan::Operand& operand = plan_.operands.at(load);
    Value* in_matrix = ir_.CreateAnd(lane_, 7);
    Value* second = ir_.CreateAnd(lane_, 8);
    Value* last_two = ir_.CreateLShr(ir_.CreateAnd(lane_, 16), 1);
    if (operand.row == summed)
        return load_matrices(
            ir_,
            address(operand, stage_, ir_.CreateAdd(in_matrix, second), last_two, depth, column),
            true);
    return load_matrices(
        ir_, address(operand, stage_, ir_.CreateAdd(in_matrix, last_two), second, column, depth),
        false);
}

}  // namespace fovea::emit::nvptx
