// The element types of tensors in generated programs, alone: see dtype.h.
#pragma once

namespace fovea::runtime {

/// Element types. `boolean` is one byte, 0 or 1.
enum class DType { f32, bf16, f16, i32, boolean };

}  // namespace fovea::runtime
