#include "codegen/reference/number_format.h"

#include <cmath>

namespace fovea {

double NumberFormat::nearest(double value) const {
    if (!std::isfinite(value)) return value;
    int exponent = 0;
    const double fraction = std::ldexp(std::frexp(value, &exponent), bits);
    const double whole = ties_to_even ? std::nearbyint(fraction) : std::round(fraction);
    return std::ldexp(whole, exponent - bits);
}

double NumberFormat::spacing(double value) const {
    if (value == 0 || !std::isfinite(value)) return 0;
    int exponent = 0;
    std::frexp(value, &exponent);
    return std::ldexp(1, exponent - bits);
}

Array rounded_to(const NumberFormat& format, Array array) {
    for (double& value : array.values) value = format.nearest(value);
    return array;
}

}  // namespace fovea
