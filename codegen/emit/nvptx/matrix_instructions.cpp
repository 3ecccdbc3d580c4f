#include "codegen/emit/nvptx/matrix_instructions.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

namespace fovea::emit::nvptx {

using llvm::Value;

namespace {

Values four_of(llvm::IRBuilder<>& ir, Value* aggregate) {
    Values values;
    for (unsigned i = 0; i < 4; ++i) values.push_back(ir.CreateExtractValue(aggregate, i));
    return values;
}

}  // namespace

Values load_matrices(llvm::IRBuilder<>& ir, Value* address, bool transposed) {
    const auto id = transposed ? llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_trans_b16
                               : llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_b16;
    return four_of(ir, ir.CreateIntrinsic(id, {address->getType()}, {address}));
}

Values multiply_matrices(llvm::IRBuilder<>& ir, const Values& a, Value* b_low, Value* b_high,
                         const Values& sums, kernel::Factors factors) {
    Values arguments = a;
    arguments.insert(arguments.end(), {b_low, b_high});
    if (factors == kernel::Factors::f16)
        for (Value*& pair : arguments)
            pair = ir.CreateBitCast(pair, llvm::FixedVectorType::get(ir.getHalfTy(), 2));
    arguments.insert(arguments.end(), sums.begin(), sums.end());
    const auto id =
        factors == kernel::Factors::tf32  ? llvm::Intrinsic::nvvm_mma_m16n8k8_row_col_tf32
        : factors == kernel::Factors::f16 ? llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_f32_f32
                                          : llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_bf16;
    return four_of(ir, ir.CreateIntrinsic(id, {}, arguments));
}

Value* rounded_to_tf32(llvm::IRBuilder<>& ir, Value* value) {
    Value* bits = ir.CreateIntrinsic(llvm::Intrinsic::nvvm_f2tf32_rna, {}, {value});
    return ir.CreateBitCast(bits, ir.getFloatTy());
}

}  // namespace fovea::emit::nvptx
