// Tensors as generated programs hold them, and arrays of float64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "codegen/graph/op_def.h"

namespace fovea::tool {

/// The number nearest to a value that a tensor of floats of this type holds.
double as_held(DType type, float value);
/// `count` elements from `address` on.
std::vector<double> read_tensor(const void* address, DType type, std::size_t count);
/// All of `array`; bfloat16 and float16 are rounded to nearest.
void write_tensor(void* address, DType type, const Array& array);

}  // namespace fovea::tool
