// Activations as whole numbers: what weights of whole numbers are multiplied with where an
// instruction multiplies such and adds up the products. Sums are then whole, and have no order.
//
// The values of a group are multiples of a unit, the least power of two of which the largest one is
// at most 127 * 256 + 127, or 127 * 65536 + 127 * 256 + 127. A multiple has two or three digits of
// base 256, from -128 to 127, or it is multiplied as 16 bits. What is lost of a value is at most
// half a unit: little more than 2^-15 or 2^-23 of the largest one of its group. A group with a
// value that is not finite has a unit that is no number.
#pragma once

#include "number_parts.h"

namespace fovea::cpu::inline FOVEA_ISA {

/// What belongs to a group of a row: what the sums of each place begin with, since numbers may be
/// multiplied as such without a sign, and the unit.
struct GroupOfDigits {
    i32 starts[3];
    float unit;
};

/// Of four steps the digit of one place, the first step in the lowest byte. Those of all places lie
/// beside each other, the lowest first, as four words; what is behind the last has no meaning.
template <int Places>
struct ByteDigits {
    static constexpr int kPlaces = Places, kSteps = 4, kWords = 4;
    template <int Bits>
    using NumbersOf = NumberBytes<Bits>;

    std::uint32_t bits;
};

/// Of two steps multiples of 16 bits, the first step in the lower half.
struct WordDigits {
    static constexpr int kPlaces = 1, kSteps = 2, kWords = 1;
    template <int Bits>
    using NumbersOf = NumberWords<Bits>;

    std::uint32_t bits;
};

template <class Value>
inline constexpr bool kIsDigits = false;
template <int Places>
inline constexpr bool kIsDigits<ByteDigits<Places>> = true;
template <>
inline constexpr bool kIsDigits<WordDigits> = true;

/// How many of a row's values some steps are.
template <class Value>
constexpr i64 values_of(i64 steps) {
    if constexpr (kIsDigits<Value>) return steps / Value::kSteps * Value::kWords;
    else return steps;
}

/// The unit of a group, and what its values are multiplied with. `largest`: the bits of the largest
/// size. `Bits` of a multiple, with its sign.
template <int Bits>
struct UnitOfGroup {
    float unit, inverse;

    explicit FOVEA_INLINE UnitOfGroup(std::uint32_t largest) {
        constexpr std::uint32_t kNoNumber = 0x7fc00000, kExponent = 23, kPlaces = Bits - 1;
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

/// That of the values that `values` gives, 16 from a step on.
template <int Bits, int Group, class Values>
FOVEA_INLINE UnitOfGroup<Bits> unit_of(const Values& values) {
    ints largest{};
    for (i64 k = 0; k < Group; k += kLanes)
        largest = larger(largest, ints(words(values(k)) & 0x7fffffffU));
    return UnitOfGroup<Bits>(std::uint32_t(max_across(largest)));
}

/// The whole numbers nearest to values of less than 2^22: what a float as large as this, which has
/// no bits for less than 1, becomes by adding them.
FOVEA_INLINE ints to_whole(floats values) {
    constexpr float kLarge = 0x1.8p23F;
    constexpr i32 kBitsOfLarge = 0x4b400000;
    return ints(values + splat(kLarge)) - splat(kBitsOfLarge);
}

#if defined(__AVX512VNNI__)

/// Packs a group of a row.
template <int Bits, int Group, int Places, class Values>
FOVEA_INLINE GroupOfDigits pack_digits(ByteDigits<Places>* to, const Values& values) {
    using Numbers = NumberBytes<Bits>;
    const auto of = unit_of<8 * Places, Group>(values);
    // Digits plus 128 are the bytes of the number plus 128 in each place.
    constexpr std::uint32_t kMiddle = Places == 3 ? 0x808080U : 0x8080U;
    const floats inverse = splat(of.inverse);
    ints sums{};
    for (i64 k = 0; k < Group; k += kLanes) {
        const words multiples =
            Numbers::in_parts(words(_mm512_maskz_cvtps_epi32(0xffff, __m512(values(k) * inverse))));
        const words digits = bytes_of_four((multiples + kMiddle) ^ kMiddle);
        store_as(to + k, digits);
        sums = add_products_of_bytes(splat_as<words>(0x01010101U), digits, sums);
    }
    i32 of_four[kLanes];
    store(of_four, sums);
    GroupOfDigits group{{}, of.unit};
    FOVEA_UNROLL for (int i = 0; i < Places; ++i) group.starts[i] =
        -Numbers::kOffset * (of_four[i] + of_four[4 + i] + of_four[8 + i] + of_four[12 + i]);
    return group;
}

#endif

/// The same of 16 bits.
template <int Bits, int Group, class Values>
FOVEA_INLINE GroupOfDigits pack_digits(WordDigits* to, const Values& values) {
    using Numbers = NumberWords<Bits>;
    const auto of = unit_of<16, Group>(values);
    const floats inverse = splat(of.inverse);
    ints sum{};
    for (i64 k = 0; k < Group; k += kLanes) {
        const ints multiples = to_whole(values(k) * inverse);
        sum += multiples;
        std::uint32_t steps[kLanes];
        store_as(steps, words(multiples));
        FOVEA_UNROLL for (int pair = 0; pair < int(kLanes) / 2; ++pair) {
            const int first = Numbers::first_of(pair);
            to[k / 2 + pair].bits = (steps[first] & 0xffffU) | steps[first + Numbers::kApart]
                                                                   << 16U;
        }
    }
    return {{-Numbers::kOffset * sum_across(sum)}, of.unit};
}

}  // namespace fovea::cpu::inline FOVEA_ISA
