// Whether a kernel may store a buffer where one lies that it reads.
#pragma once

#include "codegen/kernel/kernel.h"

namespace fovea::kernel {

/// Whether `to` may have the memory of `from`: the kernel takes each point by itself, or each
/// element of a product in its epilogue, reads `from` in the place of `to` that it then stores and
/// nowhere else, and nothing that it stores behind `to` is made of `from`.
bool may_lie_over(const Kernel& kernel, int to, int from);

}  // namespace fovea::kernel
