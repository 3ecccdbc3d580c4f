// How far values are from those that the float64 reference gives.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "runtime/dtype.h"
#include "runtime/files/files.h"

namespace fovea::bundle {

/// Elements of memory as float64.
std::vector<double> read_values(const void* address, runtime::DType dtype, std::size_t count);

/// max|a - b| / max(max|b|, floor); infinite where one of two values is not finite and they
/// differ. Masked scores, beyond 1e5, are compared on their own scale.
double relative_error(std::span<const double> a, std::span<const double> b, double floor);

}  // namespace fovea::bundle
