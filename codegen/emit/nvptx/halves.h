// Floats of 16 bits, bfloat16 and float16, in registers: as bits, in pairs, and rounded.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "codegen/kernel/kernel.h"

namespace fovea::emit::nvptx {

/// The bits (i16) of the half that is nearest to a float, ties to even.
llvm::Value* half_of_float(llvm::IRBuilder<>& ir, DType half, llvm::Value* value);
/// The float that such bits are.
llvm::Value* float_of_half(llvm::IRBuilder<>& ir, DType half, llvm::Value* bits);
/// The float nearest to x that the type has.
llvm::Value* rounded_to(llvm::IRBuilder<>& ir, DType half, llvm::Value* x);
/// Two floats, rounded, as the halves of a register (i32).
llvm::Value* pair_of(llvm::IRBuilder<>& ir, DType half, llvm::Value* low, llvm::Value* high);

/// The halves that a kernel's products take, those of the first one; f32: no halves, or no product.
DType half_of_products(const kernel::Kernel& kernel);

}  // namespace fovea::emit::nvptx
