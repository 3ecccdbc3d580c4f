// Memory that kernels pack panels and keep rows in.
#pragma once

#include <cstdint>

namespace fovea::runtime {

/// `count` floats of this thread, 64-byte aligned, that last until its next call.
float* scratch(std::int64_t count);

}  // namespace fovea::runtime
