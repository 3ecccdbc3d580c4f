// What a kernel is given besides its buffers, the same for every target.
#pragma once

#include <string>
#include <vector>

#include "codegen/kernel/kernel.h"

namespace fovea::emit {

/// The symbols of all dims of a kernel, sorted by name: its parameters after the buffers.
std::vector<std::string> symbols_of(const kernel::Kernel& kernel);

/// Whether the kernel draws random numbers, and so has a last parameter for the key.
bool draws(const kernel::Kernel& kernel);

}  // namespace fovea::emit
