// Kernels with loops over tiles (fused attention, forward and backward, of any score): entries of
// a module.
#pragma once

#include <optional>
#include <string>

#include <llvm/IR/Module.h>

#include "codegen/emit/nvptx/function.h"
#include "codegen/emit/ptx_module.h"
#include "codegen/kernel/kernel.h"
#include "codegen/target/gpu.h"

namespace fovea::emit::nvptx {

/// Why a kernel over tiles has no form for a GPU, as a clause: "it has …".
std::optional<std::string> why_not_tile_kernel(const kernel::Kernel& kernel,
                                               const target::Gpu& target);

/// Adds the entry of a kernel that `why_not_tile_kernel` finds nothing against: of matrix products
/// of halves where the kernel says so, else in float32. Products are by groups of warps where the
/// target has them, the buffers are `aligned` to 16 bytes and `why_not_attention_group` finds
/// nothing. Sums are taken in an order that only static sizes decide; every element is written by
/// one thread.
PtxKernel write_tile_kernel(llvm::Module& module, const kernel::Kernel& kernel,
                            const std::string& entry, const target::Gpu& target, bool aligned);

/// What entries of kernels over tiles have in common: as many registers as they need, and no
/// products and sums in one instruction but where they are written so.
void prepare_tile_function(Function& function);

}  // namespace fovea::emit::nvptx
