// Kernels with one product of two operands in memory, and an epilogue: entries of a module.
#pragma once

#include <functional>
#include <string>

#include <llvm/IR/Module.h>

#include "codegen/emit/nvptx/contraction/contraction_plan.h"
#include "codegen/emit/ptx_module.h"

namespace fovea::emit::nvptx {

/// Adds the entries of a kernel that `why_not_contraction` finds nothing against, one for each of
/// its plans, called as `name_entry` makes it of what is wanted. Sizes that are known only at run
/// time do not change the order in which sums are taken.
PtxKernel write_contraction(llvm::Module& module, const kernel::Kernel& kernel,
                            const ContractionSettings& settings,
                            const std::function<std::string(const std::string&)>& name_entry);

}  // namespace fovea::emit::nvptx
