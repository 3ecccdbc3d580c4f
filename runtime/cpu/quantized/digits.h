// Activations as whole numbers: what weights of whole numbers are multiplied with where an
// instruction multiplies bytes and adds up the products. Sums are then whole, and have no order.
//
// The values of a group are multiples of a unit, the least power of two of which the largest one is
// at most 127 * 256 + 127, or 127 * 65536 + 127 * 256 + 127. A multiple has two or three digits of
// base 256, from -128 to 127. What is lost of a value is at most half a unit: 2^-15 or 2^-23 of the
// largest one of its group. A group with a value that is not finite has a unit that is no number.
#pragma once

#include "weights.h"

namespace fovea::cpu::inline FOVEA_ISA {

#if defined(__AVX512VNNI__)
inline constexpr bool kMultipliesBytes = true;
#else
inline constexpr bool kMultipliesBytes = false;
#endif

/// Of four steps the digit of one place, the first step in the lowest byte.
template <int Count>
struct Digits {
    std::uint32_t bytes;
};
template <class Value>
inline constexpr int kDigits = 0;
template <int Count>
inline constexpr int kDigits<Digits<Count>> = Count;

/// What belongs to a group of a row of digits: what the sums of each place begin with, since
/// numbers are multiplied as bytes without a sign, and the unit.
struct GroupOfDigits {
    i32 starts[3];
    float unit;
};

#if defined(__AVX512VNNI__)

/// For each lane `sum` and the products of four bytes, those of `a` from 0 to 255, those of `b`
/// from -128 to 127.
FOVEA_INLINE ints add_products_of_bytes(words a, words b, ints sum) {
    return ints(_mm512_dpbusd_epi32(__m512i(sum), __m512i(a), __m512i(b)));
}

/// Of each four words the lowest bytes, then the next ones.
FOVEA_INLINE words bytes_of_four(words lanes) {
    constexpr std::uint32_t kFirst = 0x0c080400, kNext = 0x01010101;
    const words one_of_four = words(iota()) & 3U;
    return words(_mm512_shuffle_epi8(__m512i(lanes), __m512i(kFirst + one_of_four * kNext)));
}
/// The 16 lanes in another order.
FOVEA_INLINE words ordered(words lanes, ints order) {
    return words(_mm512_maskz_permutexvar_epi32(0xffff, __m512i(order), __m512i(lanes)));
}

/// A line of the numbers of 16 rows (`WeightLayout`) as bytes without a sign, those of four steps
/// of a row in a word: kOffset is added to them.
template <int Bits>
struct NumberBytes;

template <>
struct NumberBytes<8> {
    static constexpr int kQuads = 1, kOffset = 128;

    words line;
    explicit FOVEA_INLINE NumberBytes(const std::uint32_t* from) : line(load_as<words>(from)) {}
    template <int>
    FOVEA_INLINE words quad() const {
        const ints rows_together{0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
        return bytes_of_four(ordered(line, rows_together)) ^ 0x80808080U;
    }
    /// 16 steps in the order in which four are together.
    static FOVEA_INLINE words in_quads(words steps) { return steps; }
};

template <>
struct NumberBytes<4> {
    static constexpr int kQuads = 2, kOffset = 8;

    words line;
    explicit FOVEA_INLINE NumberBytes(const std::uint32_t* from) : line(load_as<words>(from)) {}
    template <int Quad>
    FOVEA_INLINE words quad() const {
        return line >> 4U * Quad & 0x0f0f0f0fU;
    }
    static FOVEA_INLINE words in_quads(words steps) {
        return ordered(steps, ints{0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15});
    }
};

/// The unit of a group, and what its values are multiplied with. `largest`: the bits of the largest
/// size.
template <int Count>
struct UnitOfGroup {
    float unit, inverse;

    explicit FOVEA_INLINE UnitOfGroup(std::uint32_t largest) {
        constexpr std::uint32_t kNoNumber = 0x7fc00000, kExponent = 23, kPlaces = 8 * Count - 1;
        constexpr float kOfAllPlaces = 1.00396F;  // at least 2^15 / 32639, and 2^23 / 8355711
        float size;
        std::memcpy(&size, &largest, sizeof size);
        size *= kOfAllPlaces;
        std::uint32_t bits;
        std::memcpy(&bits, &size, sizeof bits);
        const std::uint32_t exponent = (bits >> kExponent) + 1;
        const std::uint32_t of_unit = exponent > kPlaces ? exponent - kPlaces : 1;
        const std::uint32_t unit_bits = largest < 0x7f800000U ? of_unit << kExponent : kNoNumber;
        const std::uint32_t inverse_bits = (254 - of_unit) << kExponent;
        std::memcpy(&unit, &unit_bits, sizeof unit);
        std::memcpy(&inverse, &inverse_bits, sizeof inverse);
    }
};

/// Packs a group of a row; `values` gives the 16 from a step on. Of 16 steps lie 4 words for each
/// four: the lowest digits, the next ones, …; what is behind the last digit has no meaning.
template <int Bits, int Group, int Count, class Values>
FOVEA_INLINE GroupOfDigits pack_digits(Digits<Count>* to, const Values& values) {
    using Numbers = NumberBytes<Bits>;
    ints largest{};
    for (i64 k = 0; k < Group; k += kLanes)
        largest = larger(largest, ints(words(values(k)) & 0x7fffffffU));
    const UnitOfGroup<Count> of(std::uint32_t(max_across(largest)));
    // Digits plus 128 are the bytes of the number plus 128 in each place.
    constexpr std::uint32_t kMiddle = Count == 3 ? 0x808080U : 0x8080U;
    const floats inverse = splat(of.inverse);
    ints sums{};
    for (i64 k = 0; k < Group; k += kLanes) {
        const words multiples =
            Numbers::in_quads(words(_mm512_maskz_cvtps_epi32(0xffff, __m512(values(k) * inverse))));
        const words digits = bytes_of_four((multiples + kMiddle) ^ kMiddle);
        store_as(to + k, digits);
        sums = add_products_of_bytes(splat_as<words>(0x01010101U), digits, sums);
    }
    i32 of_four[kLanes];
    store(of_four, sums);
    GroupOfDigits group{{}, of.unit};
    FOVEA_UNROLL for (int i = 0; i < Count; ++i) group.starts[i] =
        -Numbers::kOffset * (of_four[i] + of_four[4 + i] + of_four[8 + i] + of_four[12 + i]);
    return group;
}

#endif

}  // namespace fovea::cpu::inline FOVEA_ISA
