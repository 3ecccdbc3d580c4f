// Floats of 16 bits, one by one: what files and callers hold; kernels have their own, in vectors.
#pragma once

#include <cmath>
#include <cstdint>

#include "../dtype.h"

namespace fovea::runtime {

/// The value of a bfloat16 or float16.
inline float float_of_half(DType half, std::uint16_t bits) {
    if (half == DType::bf16) return __builtin_bit_cast(float, std::uint32_t{bits} << 16);
    const std::uint32_t sign = std::uint32_t{bits} >> 15 << 31, size = bits & 0x7fffU;
    if (size > 0x7c00) return std::nanf("");
    if (size == 0x7c00) return __builtin_bit_cast(float, sign | 0x7f800000U);
    // Exponent and fraction lie as in a float, but that 0 is 2^-112 lower; the least ones are
    // multiples of 2^-24.
    constexpr std::uint32_t kLeastNormal = 1U << 10, kZero = 112U << 23;
    const float positive = size < kLeastNormal ? static_cast<float>(size) * 0x1p-24F
                                               : __builtin_bit_cast(float, (size << 13) + kZero);
    return __builtin_bit_cast(float, sign | __builtin_bit_cast(std::uint32_t, positive));
}

/// The bfloat16 or float16 nearest to a value, ties to even.
inline std::uint16_t half_of_float(DType half, float value) {
    const auto bits = __builtin_bit_cast(std::uint32_t, value);
    if (half == DType::bf16) {
        if (std::isnan(value)) return static_cast<std::uint16_t>(bits >> 16 | 0x40);
        return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    }
    const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
    const float magnitude = std::abs(value);
    if (std::isnan(value)) return sign | 0x7e00;
    if (magnitude >= 65520) return sign | 0x7c00;
    int exponent = 0;
    std::frexp(magnitude, &exponent);
    if (exponent < -13) exponent = -13;  // the distance of the smallest is 2^-24
    const auto whole =
        static_cast<std::uint32_t>(std::nearbyint(std::ldexp(magnitude, 11 - exponent)));
    // One more than the fraction holds goes into the exponent.
    return static_cast<std::uint16_t>(
        sign | (whole < 1024 ? whole : (static_cast<std::uint32_t>(exponent + 13) << 10) + whole));
}

}  // namespace fovea::runtime
