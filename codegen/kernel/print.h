// The printed form of a kernel: one line per node, loops indented.
#pragma once

#include <string>

#include "codegen/kernel/kernel.h"

namespace fovea::kernel {

/// `softmax(x f32[batch, keys]) -> y f32[batch, keys]` and the nodes below it; ends in a newline.
std::string print(const Kernel& kernel);

/// `batch*src_len+1`, names of static dims left out.
std::string text_of(const Dim& dim);

/// `[batch, src_len, 64]`
std::string shape_text(const std::vector<Dim>& shape);

/// Values as `print` names them: `x`, `exp_x`, `max_x`; no two alike, none like a buffer or axis.
std::vector<std::string> value_names(const Kernel& kernel);

}  // namespace fovea::kernel
