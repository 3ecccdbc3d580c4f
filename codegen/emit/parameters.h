// What a kernel is given besides its buffers, the same for every target.
#pragma once

#include <string>
#include <vector>

#include "codegen/kernel/kernel.h"

namespace fovea::emit {

/// The symbols of all dims of a kernel, sorted by name: its parameters after the buffers.
std::vector<std::string> symbols_of(const kernel::Kernel& kernel);

/// Whether the kernel draws random numbers: it then has a parameter for the key, and behind it one
/// for each of its sites.
bool draws(const kernel::Kernel& kernel);

/// What the parameter of the number-th site is called: site, site_2, …
std::string site_name(std::size_t number);

/// The name of the parameter that holds the site of a draw.
std::string site_name(const kernel::Kernel& kernel, const kernel::Random& random);

}  // namespace fovea::emit
