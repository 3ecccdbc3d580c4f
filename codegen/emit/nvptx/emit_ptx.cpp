// One LLVM module for all kernels of a model.
#include "codegen/emit/nvptx/emit_ptx.h"

#include "codegen/base/error.h"

namespace fovea::emit {

const std::vector<std::string>& ptx_architectures() {
    static const std::vector<std::string> all = {"sm_80", "sm_90", "sm_90a"};
    return all;
}

std::optional<std::string> why_not_ptx() { return std::nullopt; }

PtxModule emit_ptx(const std::vector<kernel::Kernel>&, const std::string& architecture) {
    throw InternalError("no kernel has a form for " + architecture);
}

}  // namespace fovea::emit
