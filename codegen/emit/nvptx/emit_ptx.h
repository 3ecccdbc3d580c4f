// Kernels to PTX through LLVM's NVPTX target.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/emit/ptx_module.h"

namespace fovea::emit {

/// The architectures that PTX is written for: sm_80, sm_90, sm_90a.
const std::vector<std::string>& ptx_architectures();

/// Why this build of fovea writes no PTX, as a sentence for the user; none where it does.
std::optional<std::string> why_not_ptx();

/// Why this kernel has no form in PTX, as a sentence without its end: "it has …"; none: it has one.
std::optional<std::string> why_not_ptx(const kernel::Kernel& kernel);

/// About the number of a GPU's multiprocessors.
inline constexpr std::int64_t kBlocksOfGpu = 128;

struct PtxOptions {
    /// A wait for a copy or for a group of warps that takes longer traps: a hang becomes an error
    /// of the kernel. 0: waits have no end, and cost less.
    int wait_seconds = 0;
    /// How many blocks the work of a product is divided into, where it has so many: those of its
    /// tiles are smaller for fewer rows. About the number of multiprocessors.
    std::int64_t blocks = kBlocksOfGpu;
};

/// The PTX of all kernels for each of these architectures, older ones first: kernels are compiled
/// on all processors, and what is the same for several architectures once. UserError as below.
std::vector<PtxModule> emit_ptx(const std::vector<kernel::Kernel>& kernels,
                                const std::vector<std::string>& architectures,
                                const PtxOptions& options = {});

/// The PTX of all kernels, as one module. UserError where this build has no LLVM, the
/// architecture is unknown, or a kernel has no form (it names the kernel and says why).
PtxModule emit_ptx(const std::vector<kernel::Kernel>& kernels, const std::string& architecture,
                   const PtxOptions& options = {});

}  // namespace fovea::emit
