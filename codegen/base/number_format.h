// Formats of fewer significant bits than float64 has.
#pragma once

#include <cmath>

namespace fovea {

struct NumberFormat {
    int bits = 0;  // significant ones
    bool ties_to_even = true;  // otherwise away from zero

    /// The value of the format nearest to `value`; infinities and NaN stay.
    double nearest(double value) const {
        if (!std::isfinite(value)) return value;
        int exponent = 0;
        const double fraction = std::ldexp(std::frexp(value, &exponent), bits);
        const double whole = ties_to_even ? std::nearbyint(fraction) : std::round(fraction);
        return std::ldexp(whole, exponent - bits);
    }
    /// The distance of neighbouring values of the format at the magnitude of `value`.
    double spacing(double value) const {
        if (value == 0 || !std::isfinite(value)) return 0;
        int exponent = 0;
        std::frexp(value, &exponent);
        return std::ldexp(1, exponent - bits);
    }
};

inline constexpr NumberFormat kFloat32Format{24, true};
inline constexpr NumberFormat kBfloat16Format{8, true};
inline constexpr NumberFormat kTf32Format{11, false};

}  // namespace fovea
