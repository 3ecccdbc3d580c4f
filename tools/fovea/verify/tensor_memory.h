// Tensors as generated programs hold them, and arrays of float64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "codegen/graph/op_def.h"

namespace fovea::tool {

/// Bytes of an element in memory.
constexpr std::int64_t element_bytes(DType type) {
    return type == DType::boolean ? 1 : type == DType::bf16 ? 2 : 4;
}
/// `count` elements from `address` on.
std::vector<double> read_tensor(const void* address, DType type, std::size_t count);
/// All of `array`; bfloat16 drops the lower bits.
void write_tensor(void* address, DType type, const Array& array);

}  // namespace fovea::tool
