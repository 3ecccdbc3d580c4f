// Which maxima need not show NaN.
#pragma once

#include "codegen/kernel/kernel.h"

namespace fovea::kernel {

/// Whether a maximum only shifts the exponentials of what it is the maximum of, and what comes of
/// them also takes their sum: NaN among them reaches every result by the sum, so that the maximum
/// may leave it out.
bool is_maximum_of_softmax(const Kernel& kernel, Id reduce);

}  // namespace fovea::kernel
