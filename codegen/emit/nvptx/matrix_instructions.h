// Instructions of a warp on matrices of bfloat16. Layouts: PTX ISA, "Matrix Fragments for
// mma.m16n8k16" and "ldmatrix".
#pragma once

#include "codegen/emit/nvptx/function.h"

namespace fovea::emit::nvptx {

/// ldmatrix.x4: four matrices of 8 x 8, a register of each; lane 8 i + r gives the address in
/// shared memory of row r of matrix i.
Values load_matrices(llvm::IRBuilder<>& ir, llvm::Value* address, bool transposed);

/// mma.m16n8k16: sums + a * b of 16 rows and 8 columns, four sums in each thread.
Values multiply_matrices(llvm::IRBuilder<>& ir, const Values& a, llvm::Value* b_low,
                         llvm::Value* b_high, const Values& sums);

/// Two floats, rounded to bfloat16, as the halves of a register.
llvm::Value* pair_of(llvm::IRBuilder<>& ir, llvm::Value* low, llvm::Value* high);

}  // namespace fovea::emit::nvptx
