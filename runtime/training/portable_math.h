// Functions of one number that have the same bits on every machine, which those of its library need
// not have. Every multiply-add is a written-out fma and every other product stands alone, so that
// no compiler flag can contract them.
#pragma once

#include <cmath>
#include <cstdint>

namespace fovea::runtime {

/// ln(x) for x in (0, 1]: the exponent, and 2 artanh((m - 1) / (m + 1)) as a series in odd powers.
inline double natural_log(double x) {
    int exponent = 0;
    double mantissa = std::frexp(x, &exponent);
    if (mantissa < 0x1.6a09e667f3bcdp-1) {  // sqrt(1/2)
        mantissa = mantissa + mantissa;
        --exponent;
    }
    const double t = (mantissa - 1.0) / (mantissa + 1.0);
    const double square = t * t;
    double series = 1.0 / 23.0;
    for (int odd = 21; odd >= 1; odd -= 2) series = std::fma(series, square, 1.0 / odd);
    const double log_mantissa = 2.0 * t * series;
    return std::fma(static_cast<double>(exponent), 0x1.62e42fefa39efp-1, log_mantissa);
}

struct SineCosine {
    double sine = 0, cosine = 0;
};

/// Taylor series, for |x| <= pi / 4.
inline SineCosine small_sine_cosine(double x) {
    const double minus_square = -(x * x);
    double sine = 1.0, cosine = 1.0;
    for (int n = 16; n >= 2; n -= 2) {
        sine = std::fma(sine, minus_square / (n * (n + 1)), 1.0);
        cosine = std::fma(cosine, minus_square / (n * (n - 1)), 1.0);
    }
    return {x * sine, cosine};
}

/// sin and cos of 2 pi turn, for a turn in [0, 1).
inline SineCosine sine_cosine_of_turn(double turn) {
    const double quarters = 4.0 * turn;  // exact, and so is its difference to a whole number
    const double nearest = std::floor(quarters + 0.5);
    const SineCosine small = small_sine_cosine((quarters - nearest) * 0x1.921fb54442d18p+0);
    switch (static_cast<int>(nearest) % 4) {
        case 0: return small;
        case 1: return {small.cosine, -small.sine};
        case 2: return {-small.sine, -small.cosine};
        default: return {-small.cosine, small.sine};
    }
}

/// base^exponent, by squaring.
inline double power(double base, std::uint64_t exponent) {
    double result = 1.0;
    for (; exponent > 0; exponent /= 2) {
        if (exponent % 2 != 0) result *= base;
        base *= base;
    }
    return result;
}

}  // namespace fovea::runtime
