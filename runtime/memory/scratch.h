// Memory of a thread: for panels that kernels pack, rows that they keep, small tensors.
#pragma once

#include <cstdint>

namespace fovea::runtime {

/// `count` floats of this thread, 64-byte aligned, that last until its next call.
float* scratch(std::int64_t count);
/// `bytes` of this thread, 64-byte aligned, for its own of what others compute, too
/// (cpu/replicas.h). They last until its next call.
char* replica_memory(std::int64_t bytes);

}  // namespace fovea::runtime
