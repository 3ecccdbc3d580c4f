// Formats of fewer significant bits than float64 has.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "codegen/base/dtype.h"

namespace fovea {

struct NumberFormat {
    int bits = 0;  // significant ones
    bool ties_to_even = true;  // otherwise away from zero
    /// The exponent of the distance of its smallest values, which are that far apart from 0 on
    /// (subnormal numbers); for float32 and what has its range, none are that small here.
    int least = std::numeric_limits<int>::min();
    /// What rounds to more is infinite.
    double largest = std::numeric_limits<double>::infinity();

    /// The value of the format nearest to `value`; infinities and NaN stay.
    double nearest(double value) const {
        if (!std::isfinite(value)) return value;
        const int step = exponent_of_spacing(value);
        const double fraction = std::ldexp(value, -step);
        const double whole = ties_to_even ? std::nearbyint(fraction) : std::round(fraction);
        const double rounded = std::ldexp(whole, step);
        return std::abs(rounded) > largest
                   ? std::copysign(std::numeric_limits<double>::infinity(), value)
                   : rounded;
    }
    /// The distance of neighbouring values of the format at the magnitude of `value`: infinite
    /// behind the largest.
    double spacing(double value) const {
        if (std::abs(value) > largest) return std::numeric_limits<double>::infinity();
        if (!std::isfinite(value) || (value == 0 && !has_least())) return 0;
        return std::ldexp(1, exponent_of_spacing(value));
    }

  private:
    constexpr bool has_least() const { return least > std::numeric_limits<int>::min(); }
    int exponent_of_spacing(double value) const {
        if (value == 0 && has_least()) return least;
        int exponent = 0;
        std::frexp(value, &exponent);
        return std::max(exponent - bits, least);
    }
};

inline constexpr NumberFormat kFloat32Format{24, true};
inline constexpr NumberFormat kBfloat16Format{8, true};
inline constexpr NumberFormat kFloat16Format{11, true, -24, 65504};
inline constexpr NumberFormat kTf32Format{11, false};

/// Of the values of a float type.
constexpr const NumberFormat& format_of(DType type) {
    return type == DType::bf16  ? kBfloat16Format
           : type == DType::f16 ? kFloat16Format
                                : kFloat32Format;
}

}  // namespace fovea
