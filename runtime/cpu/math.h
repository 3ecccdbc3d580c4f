// Elementary functions of 16 lanes, within a few units in the last place of the exact result.
#pragma once

#include "double_math.h"
#include "vector.h"

namespace fovea::cpu::inline FOVEA_ISA {

FOVEA_INLINE floats as_floats(ints bits) { return floats(bits); }
FOVEA_INLINE ints as_ints(floats value) { return ints(value); }
FOVEA_INLINE floats abs(floats x) { return as_floats(as_ints(x) & 0x7fffffff); }
FOVEA_INLINE ints abs(ints x) { return select(x < 0, -x, x); }
/// `size`, which is not negative, with the sign of x.
FOVEA_INLINE floats with_sign_of(floats x, floats size) {
    return as_floats(as_ints(size) | (as_ints(x) & i32(0x80000000)));
}
/// -1, 0 or 1; 0 of NaN.
FOVEA_INLINE floats sign(floats x) {
    return select(x > 0.F, splat(1.F), select(x < 0.F, splat(-1.F), floats{}));
}
FOVEA_INLINE ints sign(ints x) { return (x < 0) - (x > 0); }

/// The nearest whole number, for |x| < 2^22: adding 1.5 * 2^23 leaves no room for a fraction.
FOVEA_INLINE floats round_small(floats x) {
    constexpr float kMagic = 12582912.F;
    return (x + kMagic) - kMagic;
}
/// The same for any x, where the machine can.
FOVEA_INLINE floats round_nearest(floats x) {
#ifdef __AVX512F__
    return floats(_mm512_maskz_roundscale_ps(0xffff, __m512(x), 8));
#elif defined(__aarch64__)
    return neon_round(x);
#elif defined(__wasm_simd128__)
    return wasm_round(x);
#else
    return round_small(x);
#endif
}

/// The nearest whole number, the even one of two; the largest below, and the smallest above.
#ifdef __AVX512F__
FOVEA_INLINE floats round(floats x) { return round_nearest(x); }
FOVEA_INLINE floats floor(floats x) {
    return floats(_mm512_maskz_roundscale_ps(0xffff, __m512(x), 9));
}
FOVEA_INLINE floats ceil(floats x) {
    return floats(_mm512_maskz_roundscale_ps(0xffff, __m512(x), 10));
}
#elif defined(__AVX2__)
template <int Mode>
FOVEA_INLINE floats to_whole(floats x) {
    using Part = Register<float, 8>;
    return {Part(_mm256_round_ps(__m256(x.low), Mode)),
            Part(_mm256_round_ps(__m256(x.high), Mode))};
}
FOVEA_INLINE floats round(floats x) { return to_whole<8>(x); }
FOVEA_INLINE floats floor(floats x) { return to_whole<9>(x); }
FOVEA_INLINE floats ceil(floats x) { return to_whole<10>(x); }
#elif defined(__aarch64__)
FOVEA_INLINE floats round(floats x) { return neon_round(x); }
FOVEA_INLINE floats floor(floats x) { return neon_floor(x); }
FOVEA_INLINE floats ceil(floats x) { return neon_ceil(x); }
#elif defined(__wasm_simd128__)
FOVEA_INLINE floats round(floats x) { return wasm_round(x); }
FOVEA_INLINE floats floor(floats x) { return wasm_floor(x); }
FOVEA_INLINE floats ceil(floats x) { return wasm_ceil(x); }
#else
FOVEA_INLINE floats round(floats x) {
    constexpr float kWhole = 0x1p23F;  // from there on there are no fractions
    const floats size = abs(x);
    return with_sign_of(x, select(size < kWhole, (size + kWhole) - kWhole, size));
}
FOVEA_INLINE floats floor(floats x) {
    const floats nearest = round(x);
    return select(nearest > x, nearest - 1.F, nearest);
}
FOVEA_INLINE floats ceil(floats x) {
    const floats nearest = round(x);
    return select(nearest < x, with_sign_of(x, abs(nearest + 1.F)), nearest);
}
#endif

/// 2^n for whole n in [-126, 127].
FOVEA_INLINE floats power_of_two(ints n) { return as_floats((n + 127) << 23); }

/// x - n ln 2, with ln 2 in two parts: the first has few bits, so that n times it is exact.
FOVEA_INLINE floats without_ln2(floats x, floats n) {
    constexpr float kHigh = 0.693359375F, kLow = -2.12194440e-4F;
    return multiply_add(n, splat(-kLow), multiply_add(n, splat(-kHigh), x));
}

/// e^x; 0 below -104, infinity above 88.73. The reduction and polynomial are those of Cephes' expf.
/// Bounds come first where x is clamped, so that NaN stays NaN.
FOVEA_INLINE floats exp(floats x) {
    const floats clamped = smaller(splat(90.F), larger(splat(-105.F), x));
    const floats n = round_nearest(clamped * 1.44269504088896341F);
    const floats f = without_ln2(clamped, n);
    floats p = polynomial(f, 1.9875691500e-4F, 1.3981999507e-3F, 8.3334519073e-3F, 4.1665795894e-2F,
                          1.6666665459e-1F, 5.0000001201e-1F, 1.F, 1.F);
#ifdef __AVX512F__
    p = floats(_mm512_maskz_scalef_ps(0xffff, __m512(p), __m512(n)));
#else
    // In two steps, so that results below 2^-126 and n = 128 come out right.
    const ints whole = convert<ints>(n), half = whole >> 1;
    p = p * power_of_two(half) * power_of_two(whole - half);
#endif
    return p;
}

/// 2^x; 0 below -150, infinity above 128. The polynomials are minimax fits of 2^f: on [-1/2, 1/2],
/// and on [0, 1] of the error over the root of 2^f, within 1e-7 and 2e-7 of it.
FOVEA_INLINE floats exp2(floats x) {
#if defined(__AVX512F__) && !defined(FOVEA_PORTABLE_BITS)
    // x needs no bounds: what is left of large numbers and of infinity without their whole part is
    // 0, and scaling is by that of x whatever it is.
    const floats f = floats(_mm512_maskz_reduce_ps(0xffff, __m512(x), 9));
    const floats p = polynomial(f, 1.87620420e-3F, 8.99541478e-3F, 5.58175472e-2F, 2.40158835e-1F,
                                6.93151859e-1F, 1.F);
    return floats(_mm512_maskz_scalef_ps(0xffff, __m512(p), __m512(x)));
#else
#ifndef __AVX512F__
    x = smaller(splat(130.F), larger(splat(-152.F), x));
#endif
    const floats n = round_nearest(x);
    const floats f = x - n;
    floats p = polynomial(f, 1.3264725407e-3F, 9.6715127680e-3F, 5.5507337492e-2F, 2.4022242083e-1F,
                          6.9314697760e-1F, 1.F);
#ifdef __AVX512F__
    p = floats(_mm512_maskz_scalef_ps(0xffff, __m512(p), __m512(n)));
#else
    const ints whole = convert<ints>(n), half = whole >> 1;
    p = p * power_of_two(half) * power_of_two(whole - half);
#endif
    return p;
#endif
}

/// e^x - 1 for |x| <= 0.35, without losing what is small against 1.
FOVEA_INLINE floats expm1_small(floats x) {
    const floats p = polynomial(x, 1.F / 5040, 1.F / 720, 1.F / 120, 1.F / 24, 1.F / 6, 0.5F);
    return multiply_add(p, x * x, x);
}

/// e^x - 1, as (e^f - 1) 2^n + (2^n - 1) for x = f + n ln 2.
FOVEA_INLINE floats expm1(floats x) {
    const floats clamped = smaller(splat(88.9F), larger(splat(-30.F), x));
    const floats n = round_small(clamped * 1.44269504088896341F);
    const floats f = without_ln2(clamped, n);
    const floats half = power_of_two(convert<ints>(n) - 1);  // 2^n could be too large
    const floats result = expm1_small(f) * half + (half - 0.5F);
    return select(x == 0.F, x, result + result);
}

/// ln x; -infinity at 0, NaN below. The polynomial is that of Cephes' logf.
FOVEA_INLINE floats log(floats x) {
    constexpr float kLn2High = 0.693359375F, kLn2Low = -2.12194440e-4F;
    // The bits of a number below 2^-126 are its multiple of 2^-149: no sum or product reads it as a
    // float (subnormals.h).
    const ints subnormal = as_ints(x) < 0x00800000;
    const floats scaled = select(subnormal, convert<floats>(as_ints(x)), x);
    const ints bits = as_ints(scaled);
    // x = 2^n * (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)).
    const ints n = (bits - 0x3f3504f3) >> 23;
    const floats f = as_floats(bits - (n << 23)) - 1.F;
    const floats exponent = convert<floats>(n) - select(subnormal, splat(149.F), splat(0.F));
    const floats z = f * f;
    floats p = polynomial(f, 7.0376836292e-2F, -1.1514610310e-1F, 1.1676998740e-1F,
                          -1.2420140846e-1F, 1.4249322787e-1F, -1.6668057665e-1F, 2.0000714765e-1F,
                          -2.4999993993e-1F, 3.3333331174e-1F);
    p = p * f * z + exponent * kLn2Low - 0.5F * z;
    const floats result = multiply_add(exponent, splat(kLn2High), f + p);
    const ints is_zero = (as_ints(x) & 0x7fffffff) == 0;  // no subnormal number near 0 is
    const floats outside = select(is_zero, splat(kLowest), splat(__builtin_nanf("")));
    const ints finite = (scaled > 0.F) & (x < splat(__builtin_inff()));
    return select(finite, result, select(x > 0.F, x, outside));
}

/// ln(1 + x): what rounding 1 + x to u loses is made up for by the slope, x / (u - 1) (Kahan; see
/// Goldberg, "What every computer scientist should know about floating-point arithmetic", theorem
/// 4).
FOVEA_INLINE floats log1p(floats x) {
    const floats u = x + 1.F;
    const floats result = log(u) * (x / (u - 1.F));
    return select((u == 1.F) | (u == splat(__builtin_inff())), x, result);
}

/// log2 x, as ln x.
FOVEA_INLINE floats log2(floats x) { return log(x) * 1.44269504088896341F; }

/// sqrt x and 1 / sqrt x, correctly rounded (the latter up to its division).
FOVEA_INLINE floats sqrt(floats x) {
#ifdef __AVX512F__
    return floats(_mm512_maskz_sqrt_ps(0xffff, __m512(x)));
#elif defined(__AVX2__)
    using Part = Register<float, 8>;
    return {Part(_mm256_sqrt_ps(__m256(x.low))), Part(_mm256_sqrt_ps(__m256(x.high)))};
#elif defined(__aarch64__)
    return neon_sqrt(x);
#elif defined(__wasm_simd128__)
    return wasm_sqrt(x);
#else
    FOVEA_UNROLL for (int lane = 0; lane < kLanes; ++lane) x[lane] = __builtin_sqrtf(x[lane]);
    return x;
#endif
}
FOVEA_INLINE floats rsqrt(floats x) { return 1.F / sqrt(x); }

/// tanh x = u / (2 - u) for u = 1 - e^-2|x|, which keeps its precision near 0: of e^-2|x| = 2^n 2^f
/// f times the polynomial is 2^f - 1, a minimax fit on [-1/2, 1/2]. Within 4 units in the last
/// place.
FOVEA_INLINE floats tanh(floats x) {
    const floats y = smaller(splat(20.F), abs(x)) * -2.885390081777927F;
    const floats n = round_nearest(y);
    const floats f = y - n;
    const floats p = polynomial(f, 1.54035127e-4F, 1.33907355e-3F, 9.61823749e-3F, 5.55035743e-2F,
                                2.40226498e-1F, 6.93147188e-1F);
    const floats power = power_of_two(convert<ints>(n));
    const floats u = (1.F - power) - f * power * p;
    return with_sign_of(x, u / (2.F - u));
}

/// 1 / (1 + e^-x).
FOVEA_INLINE floats sigmoid(floats x) { return 1.F / (1.F + exp(-x)); }

FOVEA_INLINE floats relu(floats x) { return larger(floats{}, x); }

/// The error function; the polynomials are those of Juffa's erff, within an ulp where the machine
/// fuses multiply and add.
FOVEA_INLINE floats erf(floats x) {
    const floats size = abs(x), t = smaller(size, splat(4.F)), s = t * t;
    floats far = multiply_add(splat(-1.72853470e-5F), t, splat(3.83197126e-4F));
    far = multiply_add(far, s, multiply_add(splat(-3.88396438e-3F), t, splat(2.42546219e-2F)));
    far = multiply_add(far, t, splat(-1.06777877e-1F));
    far = multiply_add(far, t, splat(-6.34846687e-1F));
    far = multiply_add(far, t, splat(-1.28717512e-1F));
    far = 1.F - exp(multiply_add(far, t, -t));
    floats near = multiply_add(splat(-5.96761703e-4F), s, splat(4.99119423e-3F));
    near = multiply_add(near, s, splat(-2.67681349e-2F));
    near = multiply_add(near, s, splat(1.12819925e-1F));
    near = multiply_add(near, s, splat(-3.76125336e-1F));
    near = multiply_add(near, s, splat(1.28379166e-1F));
    near = multiply_add(near, x, x);
    return select(size > 0.927734375F, with_sign_of(x, far), select(x == x, near, x));
}

/// The angle of (x, y), from -pi to pi. The polynomial is that of Cephes' atanf.
FOVEA_INLINE floats atan2(floats y, floats x) {
    constexpr float kPi = 3.14159265F;
    const floats a = abs(y), b = abs(x);
    const floats smallest = select(a < b, a, b), largest = select(a < b, b, a);
    const floats same = select(largest == 0.F, largest, splat(1.F));
    const floats ratio = select(smallest == largest, same, smallest / largest);
    const ints steep = ratio > 0.414213562F;  // tan(pi / 8)
    const floats t = select(steep, (ratio - 1.F) / (ratio + 1.F), ratio);
    const floats z = t * t;
    floats p =
        polynomial(z, 8.05374449538e-2F, -1.38776856032e-1F, 1.99777106478e-1F, -3.33329491539e-1F);
    p = multiply_add(p * z, t, t);
    p = select(steep, p + kPi / 4, p);
    p = select(a > b, kPi / 2 - p, p);
    p = select(as_ints(x) < 0, kPi - p, p);
    return select((x == x) & (y == y), with_sign_of(y, p), x + y);
}

/// One number goes the way of 16, so that its bits do not depend on the way.
FOVEA_INLINE float exp(float x) { return exp(splat(x))[0]; }
FOVEA_INLINE float log(float x) { return log(splat(x))[0]; }
FOVEA_INLINE float exp2(float x) { return exp2(splat(x))[0]; }
FOVEA_INLINE float log2(float x) { return log2(splat(x))[0]; }
FOVEA_INLINE float sqrt(float x) { return __builtin_sqrtf(x); }
FOVEA_INLINE float rsqrt(float x) { return 1.F / __builtin_sqrtf(x); }
FOVEA_INLINE float tanh(float x) { return tanh(splat(x))[0]; }
FOVEA_INLINE float sigmoid(float x) { return sigmoid(splat(x))[0]; }
FOVEA_INLINE float relu(float x) { return x <= 0.F ? 0.F : x; }
FOVEA_INLINE float erf(float x) { return erf(splat(x))[0]; }
FOVEA_INLINE float abs(float x) { return __builtin_fabsf(x); }
FOVEA_INLINE i32 abs(i32 x) { return x < 0 ? i32(0U - std::uint32_t(x)) : x; }
FOVEA_INLINE float sign(float x) { return float(x > 0.F) - float(x < 0.F); }
FOVEA_INLINE i32 sign(i32 x) { return i32(x > 0) - i32(x < 0); }
FOVEA_INLINE float floor(float x) { return __builtin_floorf(x); }
FOVEA_INLINE float ceil(float x) { return __builtin_ceilf(x); }
FOVEA_INLINE float round(float x) { return __builtin_nearbyintf(x); }
FOVEA_INLINE float expm1(float x) { return expm1(splat(x))[0]; }
FOVEA_INLINE float log1p(float x) { return log1p(splat(x))[0]; }
FOVEA_INLINE float atan2(float y, float x) { return atan2(splat(y), splat(x))[0]; }
FOVEA_INLINE float sin(float x) { return sin(splat(x))[0]; }
FOVEA_INLINE float cos(float x) { return cos(splat(x))[0]; }
FOVEA_INLINE float sin_scaled(float x, float y, float z) {
    return sin_scaled(splat(x), splat(y), splat(z))[0];
}
FOVEA_INLINE float cos_scaled(float x, float y, float z) {
    return cos_scaled(splat(x), splat(y), splat(z))[0];
}
FOVEA_INLINE float pow(float x, float y) { return pow(splat(x), splat(y))[0]; }

}  // namespace fovea::cpu::inline FOVEA_ISA
