// What a kernel is given besides its buffers, and how names are spelled, the same for every target.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "codegen/kernel/kernel.h"

namespace fovea::kernel {

/// `name` with everything that C++ does not take in an identifier as '_'.
std::string identifier(std::string_view name);

/// The symbols of all dims of a kernel, sorted by name: its parameters after the buffers.
std::vector<std::string> symbols_of(const Kernel& kernel);

/// Whether the kernel draws random numbers: it then has a parameter for the key, and behind it one
/// for each of its sites.
bool draws(const Kernel& kernel);

/// What the parameter of the number-th site is called: site, site_2, …
std::string site_name(std::size_t number);

/// The name of the parameter that holds the site of a draw.
std::string site_name(const Kernel& kernel, const Random& random);

}  // namespace fovea::kernel
