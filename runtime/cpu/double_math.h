// Functions of 16 lanes that need more than 24 bits on their way: sin, cos and pow, in lanes of
// double precision, rounded once at the end.
#pragma once

#include "vector.h"

namespace fovea::cpu::inline FOVEA_ISA {

/// Sixteen lanes of 64 bits, in the order of the lanes of `floats`.
template <class T, int Lanes>
struct WideOf {
    using type = Twice<typename WideOf<T, Lanes / 2>::type>;
};
template <class T>
struct WideOf<T, kRegisterLanes / 2> : RegisterOf<T, kRegisterLanes / 2> {};
using doubles = typename WideOf<double, int(kLanes)>::type;
using longs = decltype(doubles{} < doubles{});  // also masks: -1 true, 0 false

template <class V>
FOVEA_INLINE auto to_doubles(V x) {
    if constexpr (kIsTwice<V>) {
        const auto low = to_doubles(x.low), high = to_doubles(x.high);
        return Twice<std::remove_const_t<decltype(low)>>{low, high};
    } else {
        using Part = Register<float, kRegisterLanes / 2>;
        const Part low = load_as<Part>(reinterpret_cast<const float*>(&x));
        const Part high = load_as<Part>(reinterpret_cast<const float*>(&x) + kRegisterLanes / 2);
        using Half = Register<double, kRegisterLanes / 2>;
        return Twice<Half>{convert<Half>(low), convert<Half>(high)};
    }
}
template <class To, class V>
FOVEA_INLINE To round_to(V x) {
    if constexpr (kIsTwice<To>) {
        return {round_to<decltype(To::low)>(x.low), round_to<decltype(To::high)>(x.high)};
    } else {
        using Part = Register<float, kRegisterLanes / 2>;
        Part parts[2] = {convert<Part>(x.low), convert<Part>(x.high)};
        return load_as<To>(reinterpret_cast<const float*>(parts));
    }
}
FOVEA_INLINE floats to_floats(doubles x) { return round_to<floats>(x); }

/// Adding it leaves no room for a fraction: the whole number is in the lower bits.
inline constexpr double kNoFraction = 0x1.8p52;

/// sin x for quadrant 0, cos x for 1, and so on. The reduction, good for |x| <= 2^27, and the
/// polynomials are those of FreeBSD's sinf and cosf (Kargl and Evans).
FOVEA_INLINE floats sine_of_quadrant(doubles x, i64 quadrant) {
    constexpr double kTwoOverPi = 6.36619772367581382433e-01;
    constexpr double kHalfPiHigh = 1.57079631090164184570e+00;  // 25 bits
    constexpr double kHalfPiLow = 1.58932547735281966916e-08;
    const doubles shifted = x * kTwoOverPi + kNoFraction;
    const doubles n = shifted - kNoFraction;
    const doubles y = (x - n * kHalfPiHigh) - n * kHalfPiLow;
    const doubles z = y * y, w = z * z, s = z * y;
    const doubles sine = (y + s * (z * 0.0083333293858894631756 - 0.166666666416265235595)) +
                         s * w * (z * 0.0000027183114939898219064 - 0.000198393348360966317347);
    const doubles cosine = ((z * -0.499999997251031003120 + 1.0) + w * 0.0416666233237390631894) +
                           (w * z) * (z * 0.0000243904487962774090654 - 0.00138867637746099294692);
    const longs bits = longs(shifted) + quadrant;
    const doubles size = blend((bits & 1) == 0, sine, cosine);
    return to_floats(doubles(longs(size) ^ ((bits & 2) << 62)));
}

/// Lane by lane, for what is too large to be reduced above, and for what is no number: by way of
/// double precision, so that a function of another library rounds to the same float.
__attribute__((noinline)) inline floats sine_of_large(floats x, bool cosine) {
    for (i64 lane = 0; lane < kLanes; ++lane)
        x[lane] = float(cosine ? __builtin_cos(double(x[lane])) : __builtin_sin(double(x[lane])));
    return x;
}

/// Sine and cosine, in any range.
FOVEA_INLINE floats sin(floats x) {
    const ints small = (x < 0x1p27F) & (x > -0x1p27F);
    if (any_lane(~small)) return sine_of_large(x, false);
    // The sign of a zero is lost in the reduction.
    return blend(x == 0.F, x, sine_of_quadrant(to_doubles(x), 0));
}
FOVEA_INLINE floats cos(floats x) {
    const ints small = (x < 0x1p27F) & (x > -0x1p27F);
    if (any_lane(~small)) return sine_of_large(x, true);
    return sine_of_quadrant(to_doubles(x), 1);
}

/// log2 of finite x > 0, within 2^-43 of its size or of 1: the series of the inverse hyperbolic
/// tangent of (m - 1) / (m + 1), for x = 2^n m with m in [sqrt(1/2), sqrt(2)).
FOVEA_INLINE doubles log2_positive(doubles x) {
    constexpr i64 kHalfRoot = 0x3fe6a09e667f3bcd, kExponents = i64(0x7ff) << 52;
    constexpr i64 kOne = i64(1023) << 52;  // the bits of 1
    // n + 1023 is positive: its bits beside those of 2^52 are a number.
    const longs exponent = (longs(x) - kHalfRoot + kOne) & kExponents;
    const doubles n =
        doubles((exponent >> 52) | longs(splat_as<doubles>(0x1p52))) - (0x1p52 + 1023);
    const doubles m = doubles(longs(x) - exponent + kOne);
    const doubles t = (m - 1.0) / (m + 1.0), z = t * t;
    doubles p = z * (1.0 / 17) + (1.0 / 15);
    p = p * z + (1.0 / 13);
    p = p * z + (1.0 / 11);
    p = p * z + (1.0 / 9);
    p = p * z + (1.0 / 7);
    p = p * z + (1.0 / 5);
    p = p * z + (1.0 / 3);
    p = p * z + 1.0;
    constexpr double kTwoOverLn2 = 2.8853900817779268147;
    return p * t * kTwoOverLn2 + n;
}

/// 2^x for |x| <= 1000: a Taylor polynomial within 2^-36 of its size.
FOVEA_INLINE doubles exp2_small(doubles x) {
    const doubles shifted = x + kNoFraction;
    const doubles f = (x - (shifted - kNoFraction)) * 0.69314718055994530942;
    doubles p = f * (1.0 / 3628800) + (1.0 / 362880);
    p = p * f + (1.0 / 40320);
    p = p * f + (1.0 / 5040);
    p = p * f + (1.0 / 720);
    p = p * f + (1.0 / 120);
    p = p * f + (1.0 / 24);
    p = p * f + (1.0 / 6);
    p = p * f + 0.5;
    p = p * f + 1.0;
    p = p * f + 1.0;
    return doubles(longs(p) + (longs(shifted) << 52));
}

/// The angle x 2^(y + z) of `sin_scaled`, which is of all that is finite where `is_small`: others
/// take the lanes one by one.
FOVEA_INLINE doubles scaled_angle(floats x, floats y, floats z, bool& is_small) {
    const doubles power = to_doubles(y) + to_doubles(z);
    const doubles angle = to_doubles(x) * exp2_small(power);
    is_small =
        !any_lane(~((angle < 0x1p27) & (angle > -0x1p27) & (power < 1000.0) & (power > -1000.0)));
    return angle;
}
/// Lane by lane, from the angles of `scaled_angle` but where a power of two is too large for it.
__attribute__((noinline)) inline floats sine_of_large_scaled(floats x, floats y, floats z,
                                                             doubles angles, bool cosine) {
    for (i64 lane = 0; lane < kLanes; ++lane) {
        const double power = double(y[lane]) + double(z[lane]);
        const bool fits = power < 1000.0 && power > -1000.0;
        const double angle = fits ? angles[lane] : double(x[lane]) * __builtin_exp2(power);
        x[lane] = float(cosine ? __builtin_cos(angle) : __builtin_sin(angle));
    }
    return x;
}

/// Sine and cosine of x 2^(y + z).
FOVEA_INLINE floats sin_scaled(floats x, floats y, floats z) {
    bool is_small;
    const doubles angle = scaled_angle(x, y, z, is_small);
    if (!is_small) return sine_of_large_scaled(x, y, z, angle, false);
    return blend(x == 0.F, x, sine_of_quadrant(angle, 0));
}
FOVEA_INLINE floats cos_scaled(floats x, floats y, floats z) {
    bool is_small;
    const doubles angle = scaled_angle(x, y, z, is_small);
    if (!is_small) return sine_of_large_scaled(x, y, z, angle, true);
    return sine_of_quadrant(angle, 1);
}

/// x^y, with all special values as in C.
FOVEA_INLINE floats pow(floats base, floats exponent) {
    constexpr double kInfinity = __builtin_inf();
    constexpr i64 kSign = i64(std::uint64_t(1) << 63);
    const doubles x = to_doubles(base), y = to_doubles(exponent);
    const doubles size = doubles(longs(x) & ~kSign);
    doubles log = log2_positive(size);
    log = blend(size == 0.0, splat_as<doubles>(-kInfinity), log);
    log = blend(size == kInfinity, splat_as<doubles>(kInfinity), log);
    doubles z = y * log;
    z = blend((size == 1.0) | (y == 0.0), doubles{}, z);
    z = blend(z > -300.0, z, splat_as<doubles>(-300.0));
    z = blend(z < 300.0, z, splat_as<doubles>(300.0));
    const auto is_whole = [](doubles v) FOVEA_LAMBDA {
        const doubles capped = blend(doubles(longs(v) & ~kSign) < 0x1p32, v, doubles{});
        return (capped + kNoFraction) - kNoFraction == capped;
    };
    const longs whole = is_whole(y), odd = whole & ~is_whole(y * 0.5);
    const doubles power = doubles(longs(exp2_small(z)) ^ (longs(x) & odd & kSign));
    const longs outside = ((x < 0.0) & (x > -kInfinity) & ~whole & (y == y)) |
                          ((x != x) & (y != 0.0)) | ((y != y) & (x != 1.0));
    return to_floats(blend(outside, splat_as<doubles>(__builtin_nan("")), power));
}

// ---- e^x in two parts, m * 2^n with a whole n, and functions of it: e^(a + b) is then the product
// of the parts of e^a and e^b, right to float precision however large a and b are by themselves. A
// function of all sums a + b costs one exponential per a and per b, not one per pair.

/// x / ln 2, with 24 bits after the point for |x| < 2^23; x beyond that is taken to be +-2^23.
FOVEA_INLINE doubles exponent_of_two(floats x) {
    constexpr double kLog2e = 1.4426950408889634;
    constexpr float kLargest = 8388608.F;
    const floats clamped = smaller(larger(x, splat(-kLargest)), splat(kLargest));
    return to_doubles(select(x == x, clamped, x)) * kLog2e;
}

/// The whole number nearest to x / ln 2.
FOVEA_INLINE floats exp_exponent(floats x) {
    return to_floats((exponent_of_two(x) + kNoFraction) - kNoFraction);
}

/// e^x / 2^exp_exponent(x), between sqrt(1/2) and sqrt(2). The polynomial is Taylor's of 2^f on
/// [-1/2, 1/2], within 6e-9 of it.
FOVEA_INLINE floats exp_significand(floats x) {
    const doubles exponent = exponent_of_two(x);
    const floats f = to_floats(exponent - ((exponent + kNoFraction) - kNoFraction));
    return polynomial(f, 1.5252734e-5F, 1.5403530e-4F, 1.3333558e-3F, 9.6181291e-3F, 5.5504109e-2F,
                      2.4022651e-1F, 6.9314718e-1F, 1.F);
}

/// 1 + m * 2^n for m in [1/4, 4] and whole n; n below -126 or above 127 may be taken to be those.
FOVEA_INLINE floats one_plus(floats m, floats n) {
#if defined(__AVX512F__) && !defined(FOVEA_PORTABLE_BITS)
    return 1.F + floats(_mm512_maskz_scalef_ps(0xffff, __m512(m), __m512(n)));
#else
    // The last bits of the sum are n + 127: the exponent of 2^n as floats keep it.
    constexpr float kExponentInLastBits = 12582912.F + 127.F;
    const floats near = smaller(larger(n, splat(-126.F)), splat(127.F));
    return multiply_add(m, floats(ints(near + kExponentInLastBits) << 23), splat(1.F));
#endif
}

/// a / x for x >= 1, 0 from 2^127 on: a division takes longer than all that a pair has beside it,
/// a step of Newton's behind the 14 bits that the machine looks up does not.
FOVEA_INLINE floats quotient(floats a, floats x) {
#if defined(__AVX512F__) && !defined(FOVEA_PORTABLE_BITS)
    x = smaller(splat(0x1p127F), x);  // infinity times 0 is NaN
    const floats reciprocal = floats(_mm512_maskz_rcp14_ps(0xffff, __m512(x)));
    const floats near = a * reciprocal;
    return multiply_add(multiply_add(-x, near, a), reciprocal, near);
#else
    return a / x;
#endif
}

/// tanh x, where m * 2^n is e^2x: 1 - 2 / (1 + e^2x), within 2^-23 of tanh x.
FOVEA_INLINE floats tanh_of_exp(floats m, floats n) {
    return 1.F - quotient(splat(2.F), one_plus(m, n));
}

/// 1 / (1 + e^-x), where m * 2^n is e^-x.
FOVEA_INLINE floats sigmoid_of_exp(floats m, floats n) {
    return quotient(splat(1.F), one_plus(m, n));
}

/// One number goes the way of 16, so that its bits do not depend on the way.
FOVEA_INLINE float exp_exponent(float x) { return exp_exponent(splat(x))[0]; }
FOVEA_INLINE float exp_significand(float x) { return exp_significand(splat(x))[0]; }
FOVEA_INLINE float tanh_of_exp(float m, float n) { return tanh_of_exp(splat(m), splat(n))[0]; }
FOVEA_INLINE float sigmoid_of_exp(float m, float n) {
    return sigmoid_of_exp(splat(m), splat(n))[0];
}

}  // namespace fovea::cpu::inline FOVEA_ISA
