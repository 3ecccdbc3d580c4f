// Numbers that float32 is too short for.
#pragma once

#include <cmath>
#include <limits>

namespace fovea {

/// Whether `got` is the infinity that float32 has for `right`, which is known to within `error`.
inline bool is_overflow(double got, double right, double error) {
    return std::isinf(got) && std::signbit(got) == std::signbit(right) &&
           std::abs(right) + error > double(std::numeric_limits<float>::max());
}

}  // namespace fovea
