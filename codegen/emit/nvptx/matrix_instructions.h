// Instructions of a warp on matrices of halves and of tf32. Layouts: PTX ISA, "Matrix Fragments
// for mma.m16n8k16", "mma.m16n8k8" and "ldmatrix".
#pragma once

#include "codegen/emit/nvptx/function.h"

namespace fovea::emit::nvptx {

/// ldmatrix.x4: four matrices of 8 rows of 16 bytes, a register of each; lane 8 i + r gives the
/// address in shared memory of row r of matrix i. Lane 4 r + c gets bytes 4 c to 4 c + 3 of row r;
/// `transposed`, of halves, elements 2 c and 2 c + 1 of column r.
Values load_matrices(llvm::IRBuilder<>& ir, llvm::Value* address, bool transposed);

/// mma.m16n8k16, of tf32 m16n8k8: sums + a * b of 16 rows and 8 columns, four sums in each thread.
Values multiply_matrices(llvm::IRBuilder<>& ir, const Values& a, llvm::Value* b_low,
                         llvm::Value* b_high, const Values& sums, kernel::Factors factors);

/// A float, rounded to tf32, to nearest, ties away from zero.
llvm::Value* rounded_to_tf32(llvm::IRBuilder<>& ir, llvm::Value* value);

}  // namespace fovea::emit::nvptx
