#include "codegen/emit/nvptx/halves.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

namespace fovea::emit::nvptx {

using llvm::Value;

Value* half_of_float(llvm::IRBuilder<>& ir, DType half, Value* value) {
    Value* rounded = half == DType::f16
                         ? ir.CreateFPTrunc(value, ir.getHalfTy())
                         : ir.CreateIntrinsic(llvm::Intrinsic::nvvm_f2bf16_rn, {}, {value});
    return ir.CreateBitCast(rounded, ir.getInt16Ty());
}

Value* float_of_half(llvm::IRBuilder<>& ir, DType half, Value* bits) {
    if (half == DType::f16)
        return ir.CreateFPExt(ir.CreateBitCast(bits, ir.getHalfTy()), ir.getFloatTy());
    return ir.CreateBitCast(ir.CreateShl(ir.CreateZExt(bits, ir.getInt32Ty()), 16),
                            ir.getFloatTy());
}

Value* rounded_to(llvm::IRBuilder<>& ir, DType half, Value* x) {
    return float_of_half(ir, half, half_of_float(ir, half, x));
}

Value* pair_of(llvm::IRBuilder<>& ir, DType half, Value* low, Value* high) {
    const auto id =
        half == DType::f16 ? llvm::Intrinsic::nvvm_ff2f16x2_rn : llvm::Intrinsic::nvvm_ff2bf16x2_rn;
    return ir.CreateBitCast(ir.CreateIntrinsic(id, {}, {high, low}), ir.getInt32Ty());
}

DType half_of_products(const kernel::Kernel& kernel) {
    for (const kernel::Node& node : kernel.nodes)
        if (auto contract = std::get_if<kernel::Contract>(&node.operation))
            return is_half(contract->factors) ? dtype_of(contract->factors) : DType::f32;
    return DType::f32;
}

}  // namespace fovea::emit::nvptx
