// Attention of one sequence with 21 valid keys, at other lengths.
#pragma once

#include <functional>

#include "tests/emit/arrays.h"

namespace fovea::test {

/// Checks that the bits of the first 10 rows of attention's output, which `run` computes on arrays
/// of any sizes, do not depend on how far queries and keys are padded. The kernel is that of a
/// variant with two heads of 64 and valid lengths.
void check_padding(const kernel::Kernel& kernel,
                   const std::function<void(const kernel::DimValues&, Arrays&)>& run);

}  // namespace fovea::test
