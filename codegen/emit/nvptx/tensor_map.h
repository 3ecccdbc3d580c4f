// What the GPU asks of tensors that it copies in boxes.
#pragma once

#include <optional>
#include <string>

#include "codegen/emit/ptx_module.h"

namespace fovea::emit::nvptx {

inline constexpr int kTensorMapBytes = 128;

/// Why a map is none that the driver takes, whatever the sizes are, as part of a sentence; none:
/// it is one.
std::optional<std::string> why_not_tensor_map(const kernel::Kernel& kernel, const TensorMap& map);

/// The bytes that one copy brings.
int box_bytes(const kernel::Kernel& kernel, const TensorMap& map);

}  // namespace fovea::emit::nvptx
