// tanh and sigmoid of sums whose terms broadcast.
#pragma once

#include "codegen/kernel/kernel.h"

namespace fovea::kernel {

/// tanh(a + b) of a tile of three axes or more, where a and b have fewer, becomes a function of the
/// product of e^2a and e^2b; sigmoid(a + b) likewise. Each exponential is kept as a significand and
/// a whole exponent (exp_significand, exp_exponent), so that neither a large a nor a large b
/// overflows, and is computed where a or b is: an element of the large tile then costs a product, a
/// scaling and a division. Terms may be subtracted and scaled by numbers, and be more than two.
void split_exponentials(Kernel& kernel);

}  // namespace fovea::kernel
