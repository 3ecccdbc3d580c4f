// Formats of fewer significant bits than float32 has, to which kernels round on the way.
#pragma once

#include "codegen/graph/op_def.h"

namespace fovea {

struct NumberFormat {
    int bits = 0;  // significant ones
    bool ties_to_even = true;  // otherwise away from zero

    /// The value of the format nearest to `value`; infinities and NaN stay.
    double nearest(double value) const;
    /// The distance of neighbouring values of the format at the magnitude of `value`.
    double spacing(double value) const;
};

inline constexpr NumberFormat kBfloat16Format{8, true};
inline constexpr NumberFormat kTf32Format{11, false};

Array rounded_to(const NumberFormat& format, Array array);

}  // namespace fovea
