// Tensor maps as the interpreter's kernels see them.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "codegen/ptx/memory.h"

namespace fovea::ptx {

/// The map that `encode` wrote, or nothing where the bytes are something else.
std::optional<TensorMap> decode_tensor_map(std::span<const std::byte, 128> bytes);

/// The address in shared memory where a byte of a tile lies: swizzles of 32, 64 and 128 bytes
/// exchange the 16-byte pieces of each row of 128 bytes, by the number of the row.
std::uint32_t swizzled(std::uint32_t address, std::uint32_t swizzle);

}  // namespace fovea::ptx
