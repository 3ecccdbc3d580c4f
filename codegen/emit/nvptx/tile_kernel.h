// Kernels with loops over tiles (fused attention, forward and backward, of any score): entries of
// a module.
#pragma once

#include <optional>
#include <string>

#include <llvm/IR/Module.h>

#include "codegen/emit/ptx_module.h"
#include "codegen/kernel/kernel.h"

namespace fovea::emit::nvptx {

/// Why a kernel over tiles has no form for a GPU, as a clause: "it has …".
std::optional<std::string> why_not_tile_kernel(const kernel::Kernel& kernel);

/// Adds the entry of a kernel that `why_not_tile_kernel` finds nothing against. Sums are float32,
/// in an order that only static sizes decide; every element is written by one thread.
PtxKernel write_tile_kernel(llvm::Module& module, const kernel::Kernel& kernel,
                            const std::string& entry);

}  // namespace fovea::emit::nvptx
