// The dtypes of the safetensors format, shared by its reader and its writer.
#pragma once

#include <cstddef>
#include <string_view>

namespace fovea::runtime {

/// Bytes of one element of a dtype named as in the format, or 0 for an unknown name.
std::size_t element_bytes(std::string_view dtype);

}  // namespace fovea::runtime
