// How far a float is from the exact value.
#pragma once

#include <cmath>
#include <limits>

namespace fovea::test {

/// |own - exact| in units in the last place of the rounded exact value.
inline double ulps(float own, double exact) {
    const float rounded = float(exact);
    if (std::isinf(rounded) || std::isnan(rounded))
        return own == rounded || (std::isnan(own) && std::isnan(rounded)) ? 0 : 1e9;
    const double size = std::fabs(double(rounded));
    const double unit =
        double(std::nextafter(std::fabs(rounded), std::numeric_limits<float>::infinity())) - size;
    return std::fabs(double(own) - exact) / unit;
}

}  // namespace fovea::test
