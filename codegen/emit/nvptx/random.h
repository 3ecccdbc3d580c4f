// Dropout drawn from Philox4x32-10, the words of runtime/training/philox.h.
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace fovea::emit::nvptx {

/// Whose decisions they are: i64 seed, step and site, and the probability.
struct Dropout {
    llvm::Value *seed, *step, *site;
    double probability;
};

/// 0, or 1 / (1 - probability) where the element is kept; row and column are i32.
llvm::Value* dropout_factor(llvm::IRBuilder<>& ir, const Dropout& dropout, llvm::Value* row,
                            llvm::Value* column);

}  // namespace fovea::emit::nvptx
