// Functions of a float that need more than 24 bits on their way: in double precision, rounded once.
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace fovea::emit::nvptx {

/// sin x for quadrant 0, cos x for 1; good for |x| <= 2^27.
llvm::Value* sine(llvm::IRBuilder<>& ir, llvm::Value* x, int quadrant);

/// x^y, with all special values as in C.
llvm::Value* power(llvm::IRBuilder<>& ir, llvm::Value* x, llvm::Value* y);

}  // namespace fovea::emit::nvptx
