// Three kernels that the tests of this folder start from.
#pragma once

#include "codegen/kernel/kernel.h"

namespace fovea::test {

/// y[row, key] = softmax over key, dropped out.
kernel::Kernel small_softmax();
/// y[batch, row, out] = relu(x w^T + bias), w [out, in].
kernel::Kernel small_dense();
/// table[ids[row], column] += dy[row, column].
kernel::Kernel small_scatter();

}  // namespace fovea::test
