// float16 in vectors: converted by the machine where it has instructions for it, else by whole
// numbers.
#pragma once

#include "neon.h"
#include "registers.h"
#include "wasm.h"

namespace fovea::cpu::inline FOVEA_ISA {

/// The values of float16 that `bits` are.
FOVEA_INLINE floats floats_of_float16(halves bits) {
#if defined(__AVX512F__)
    return floats(_mm512_maskz_cvtph_ps(0xffff, __m256i(bits)));
#elif defined(__AVX2__) && defined(__F16C__)
    using Part = Register<float, 8>;
    return {Part(_mm256_cvtph_ps(__m128i(bits.low))), Part(_mm256_cvtph_ps(__m128i(bits.high)))};
#elif defined(__aarch64__)
    return neon_of_float16<floats>(bits);
#else
    constexpr std::uint32_t kExponent = 0x7c00U << 13, kToFloat32 = (127U - 15) << 23;
    const words wide = convert<words>(bits);
    const words magnitude = (wide & 0x7fffU) << 13;
    const words exponent = magnitude & kExponent;
    const words normal = magnitude + kToFloat32;
    const words infinite = normal + kToFloat32;  // and what is no number
    // 2^-14 and the fraction, less 2^-14.
    const words subnormal = words(floats(normal + (1U << 23)) - 0x1p-14F);
    const words some = blend(exponent == kExponent, infinite, normal);
    const words number = blend(exponent == 0U, subnormal, some);
    return floats(number | (wide & 0x8000U) << 16);
#endif
}

/// The nearest values of float16, ties to even: infinite from 65520 on.
FOVEA_INLINE halves float16_of_floats(floats value) {
#if defined(__AVX512F__)
    return halves(_mm512_maskz_cvtps_ph(0xffff, __m512(value), _MM_FROUND_TO_NEAREST_INT));
#elif defined(__AVX2__) && defined(__F16C__)
    using Part = Register<std::uint16_t, 8>;
    return {Part(_mm256_cvtps_ph(__m256(value.low), _MM_FROUND_TO_NEAREST_INT)),
            Part(_mm256_cvtps_ph(__m256(value.high), _MM_FROUND_TO_NEAREST_INT))};
#elif defined(__aarch64__)
    return neon_to_float16<halves>(value);
#else
    // A sum with 0.5 rounds what is less than 2^-14 to multiples of 2^-24.
    constexpr std::uint32_t kInfinity = 255U << 23, kTooLarge = (127U + 16) << 23,
                            kLeastNormal = (127U - 14) << 23, kHalf = 126U << 23;
    const words sign = words(value) & 0x80000000U;
    const words bits = words(value) ^ sign;
    const words subnormal = words(floats(bits) + 0.5F) - kHalf;
    const words odd = (bits >> 13) & 1U;
    const words normal = (bits + odd - ((127U - 15) << 23) + 0xfffU) >> 13;
    const words fraction = (bits >> 13) & 0x3ffU;
    const words infinite = blend(bits > kInfinity, fraction | 0x7e00U, splat_as<words>(0x7c00U));
    const words finite = blend(bits < kLeastNormal, subnormal, normal);
    return convert<halves>(blend(bits >= kTooLarge, infinite, finite) | sign >> 16);
#endif
}

}  // namespace fovea::cpu::inline FOVEA_ISA
