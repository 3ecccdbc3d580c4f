// LLVM, ptxas and the driver.
#include <fmt/format.h>

#include <exception>

#include "codegen/emit/llvm_version.h"
#include "codegen/emit/nvptx/emit_ptx.h"
#include "runtime/device/cuda_device.h"
#include "tools/fovea/doctor/findings.h"
#include "tools/fovea/process.h"

namespace fovea::tool {

namespace {

using State = Finding::State;

Finding ptx() {
    if (emit::why_not_ptx())
        return {"PTX", State::absent, "this build of fovea has no LLVM, and writes no PTX",
                "install LLVM 19 (apt install llvm-19-dev), and run cmake and the build again"};
    return {"PTX", State::ok, "by LLVM " + emit::llvm_version(), {}};
}

Finding ptxas() {
    const std::string found = find_program("ptxas");
    if (!found.empty()) return {"ptxas", State::ok, found, {}};
    return {"ptxas", State::absent, "PTX is assembled by the driver, and by no test here",
            "only to check PTX without a GPU: install CUDA's (apt install nvidia-cuda-toolkit)"};
}

Finding gpu() {
    try {
        return {"GPU", State::ok, runtime::device::open_cuda()->name(), {}};
    } catch (const std::exception& error) {
        return {"GPU", State::absent, error.what(),
                "only for --target cuda: a GPU from sm_80 on, and its driver (apt install "
                "nvidia-driver)"};
    }
}

}  // namespace

void find_gpu_tools(std::vector<Finding>& findings) {
    for (const auto look : {ptx, ptxas, gpu}) findings.push_back(look());
}

}  // namespace fovea::tool
