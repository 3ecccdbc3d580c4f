// Kernels to PTX through LLVM's NVPTX target.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/emit/ptx_module.h"
#include "codegen/target/gpu.h"

namespace fovea::emit {

/// The architectures that PTX is written for: sm_80, sm_90, sm_90a.
const std::vector<std::string>& ptx_architectures();

/// Why this build of fovea writes no PTX, as a sentence for the user; none where it does.
std::optional<std::string> why_not_ptx();

/// Why this kernel has no form in PTX, as a sentence without its end: "it has …"; none: it has one.
std::optional<std::string> why_not_ptx(const kernel::Kernel& kernel, const target::Gpu& target);

struct PtxOptions {
    /// A wait for a copy or for a group of warps that takes longer traps: a hang becomes an error
    /// of the kernel. 0: waits have no end, and cost less.
    int wait_seconds = 0;
};

/// The PTX of all kernels for each of these targets, older ones first: kernels are compiled
/// on all processors, and what is the same for several of them once. UserError as below.
std::vector<PtxModule> emit_ptx(const std::vector<kernel::Kernel>& kernels,
                                const std::vector<target::Gpu>& targets,
                                const PtxOptions& options = {});

/// The PTX of all kernels, as one module. UserError where this build has no LLVM, a kernel has no
/// form, or a schedule cannot be kept (it names the kernel and says why).
PtxModule emit_ptx(const std::vector<kernel::Kernel>& kernels, const target::Gpu& target,
                   const PtxOptions& options = {});
/// For an architecture as it is described; UserError where it is unknown.
PtxModule emit_ptx(const std::vector<kernel::Kernel>& kernels, const std::string& architecture,
                   const PtxOptions& options = {});

}  // namespace fovea::emit
