// e^x in two parts, m * 2^n with a whole n, and functions of it: e^(a + b) is then the product of
// the parts of e^a and e^b, right to float precision however large a and b are by themselves. A
// function of all sums a + b costs one exponential per a and per b, not one per pair.
#pragma once

#include "double_math.h"

namespace fovea::cpu::inline FOVEA_ISA {

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

/// tanh x, where m * 2^n is e^2x: 1 - 2 / (1 + e^2x), within 2^-23 of tanh x.
FOVEA_INLINE floats tanh_of_exp(floats m, floats n) { return 1.F - 2.F / one_plus(m, n); }

/// 1 / (1 + e^-x), where m * 2^n is e^-x.
FOVEA_INLINE floats sigmoid_of_exp(floats m, floats n) { return 1.F / one_plus(m, n); }

/// One number goes the way of 16, so that its bits do not depend on the way.
FOVEA_INLINE float exp_exponent(float x) { return exp_exponent(splat(x))[0]; }
FOVEA_INLINE float exp_significand(float x) { return exp_significand(splat(x))[0]; }
FOVEA_INLINE float tanh_of_exp(float m, float n) { return tanh_of_exp(splat(m), splat(n))[0]; }
FOVEA_INLINE float sigmoid_of_exp(float m, float n) {
    return sigmoid_of_exp(splat(m), splat(n))[0];
}

}  // namespace fovea::cpu::inline FOVEA_ISA
