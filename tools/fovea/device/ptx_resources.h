// Registers and shared memory of the kernels in PTX text, as ptxas tells them.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "codegen/emit/ptx_module.h"

namespace fovea::tool {

struct KernelResources {
    int registers = 0;
    int shared_bytes = 0;  // static
    int stack_bytes = 0, spill_bytes = 0;
};

/// By entry. None where no ptxas is on the PATH; InternalError where it does not take the text.
std::optional<std::map<std::string, KernelResources>> ptx_resources(
    const std::string& text, const std::string& architecture);

/// Each entry with its registers, shared memory and threads, as comments of PTX, or one line where
/// there is no ptxas; then the form of each kernel that has several, and why not a faster one.
std::string resource_table(const emit::PtxModule& module);

}  // namespace fovea::tool
