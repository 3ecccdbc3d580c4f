// Products of a group of four warps (wgmma) whose columns are read from shared memory, in rows of
// 128 bytes that are swizzled.
#pragma once

#include "codegen/emit/nvptx/function.h"

namespace fovea::emit::nvptx {

/// Of the descriptions of operands in shared memory: bytes of eight rows of 128, and the field
/// that says their swizzle.
inline constexpr int kEightRows = 1024;
inline constexpr std::uint64_t kSwizzle128 = std::uint64_t(1) << 62;

/// Names an operand that lies from `address` on. Neighbours are along the depth of the product, or
/// along its columns; then `apart` bytes lie between columns of 64 elements.
llvm::Value* describe_operand(Function& f, llvm::Value* address, int apart = 16);

/// wgmma.fence: products that start from here on see these registers, floats or words, as they are.
Values fence_registers(Function& f, const Values& registers);

/// Starts `a * b` of 64 rows and so many columns, neighbours along the depth, of which there are
/// 16, of the type `half`. Until `wait_for_products` nothing may touch what this returns.
Values start_first_product(Function& f, llvm::Value* a, llvm::Value* b, int columns, DType half);

/// Starts `sums + a * b`: `a` in four registers, neighbours of `b` along the columns. Until
/// `wait_for_products` nothing may touch what this returns, nor change the registers.
Values start_product_of_registers(Function& f, const Values& a, llvm::Value* b, const Values& sums,
                                  DType half);

/// The products since the last call are a group.
void commit_products(Function& f);

}  // namespace fovea::emit::nvptx
