// Tables of which programs look rows up: kernels read them as they lie in a file of weights.
#pragma once

#include "codegen/plan/plan.h"

namespace fovea::plan {

/// Whether a kernel reads a buffer by rows that ids pick, and in no other way: it can take them as
/// float32 and as floats of 16 bits (kernel::Buffer::looked_up).
bool can_look_up(const kernel::Kernel& kernel, std::size_t buffer);

/// Whether any kernel does.
bool looks_up_rows(const Model& model);

}  // namespace fovea::plan
