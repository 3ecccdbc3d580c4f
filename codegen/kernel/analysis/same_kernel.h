// Whether two kernels compute the same with the same code, whatever they are called.
#pragma once

#include <cstdint>
#include <string>

#include "codegen/kernel/kernel.h"

namespace fovea::kernel {

/// Equal in structure, dims, types, constants and accesses; names, formula, sources and the sites
/// that they are given may differ.
bool same_kernel(const Kernel& a, const Kernel& b);

/// Equal for kernels that are the same.
std::uint64_t structural_hash(const Kernel& kernel);

/// Equal for nodes of a kernel that do the same to the same operands.
std::string structure_of(const Kernel& kernel, Id id);

}  // namespace fovea::kernel
