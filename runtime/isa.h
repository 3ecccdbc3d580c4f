// Instruction sets: which a machine has, and which of a program's it runs.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "description.h"

namespace fovea::runtime {

/// `avx512_bf16`, `avx512`, `avx2`, `baseline`: the best first. They are x86-64-v4 with and without
/// AVX512_BF16, v3 and any x86-64.
std::span<const std::string_view> isa_names();

/// Whether this machine runs kernels for `isa`, one of `isa_names`.
bool machine_has(std::string_view isa);

/// The number of the part to run: the one that the environment variable FOVEA_ISA names, else the
/// best that this machine has. UserError when there is none such, with those that there are.
std::size_t choose_isa(std::span<const std::string_view> parts);
const IsaPart& choose_isa(std::span<const IsaPart> parts);

}  // namespace fovea::runtime
