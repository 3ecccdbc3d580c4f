// The elementwise functions as LLVM instructions, within a few units in the last place.
#pragma once

#include <vector>

#include <llvm/IR/IRBuilder.h>

#include "codegen/base/elementwise.h"

namespace fovea::emit::nvptx {

/// `function` of operands of one type, float, i32 or i1 (of `where` the first is i1). Comparisons
/// and logic give i1, the others the type of their operands; those that need floats throw
/// InternalError for others.
llvm::Value* elementwise(llvm::IRBuilder<>& ir, Elementwise function,
                         const std::vector<llvm::Value*>& operands);

/// What i32 makes of a float or a double: `fovea::whole_part`.
llvm::Value* whole_part(llvm::IRBuilder<>& ir, llvm::Value* x);

/// A number of the builder's float type.
llvm::Value* float_constant(llvm::IRBuilder<>& ir, double value);

}  // namespace fovea::emit::nvptx
