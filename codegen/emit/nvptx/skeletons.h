// How the kernels of each form are written: one function a form.
#pragma once

#include <optional>
#include <string>

#include <llvm/IR/Module.h>

#include "codegen/emit/ptx_module.h"
#include "codegen/kernel/kernel.h"
#include "codegen/target/gpu.h"

namespace fovea::emit::nvptx {

/// Points and passes over their inner axes: maps, reductions, sums over rows. The `why_not_…` give
/// the reason why a kernel has no such form, as a sentence without its end: "it has …".
PtxKernel write_rows(llvm::Module& module, const kernel::Kernel& kernel,
                     const target::GpuRows& target);
std::optional<std::string> why_not_rows(const kernel::Kernel& kernel);

/// Copies that transpose: another form of some row kernels; none, and nothing written, where the
/// kernel is no such copy.
std::optional<PtxKernel> write_transpose(llvm::Module& module, const kernel::Kernel& kernel,
                                         const target::GpuTranspose& target);

/// Rows added to a table by their ids.
PtxKernel write_scatter(llvm::Module& module, const kernel::Kernel& kernel,
                        const target::GpuScatter& target);
std::optional<std::string> why_not_scatter(const kernel::Kernel& kernel);

}  // namespace fovea::emit::nvptx
