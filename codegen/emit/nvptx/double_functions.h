// Functions of a float that need more than 24 bits on their way: in double precision, rounded once.
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace fovea::emit::nvptx {

/// sin x for quadrant 0, cos x for 1; good for |x| <= 2^27.
llvm::Value* sine(llvm::IRBuilder<>& ir, llvm::Value* x, int quadrant);

/// The same of x 2^(y + z), whose angle is in double precision; good for angles up to 2^27 and
/// powers from 2^-1000 to 2^1000.
llvm::Value* scaled_sine(llvm::IRBuilder<>& ir, llvm::Value* x, llvm::Value* y, llvm::Value* z,
                         int quadrant);

/// x^y, with all special values as in C.
llvm::Value* power(llvm::IRBuilder<>& ir, llvm::Value* x, llvm::Value* y);

}  // namespace fovea::emit::nvptx
