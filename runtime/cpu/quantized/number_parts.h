// Weights of whole numbers as instructions take them that multiply whole numbers and add up the
// products: a line of the numbers of 16 rows (`WeightLayout`) in parts of some steps, those of a
// row in a word each.
#pragma once

#include "weights.h"

namespace fovea::cpu::inline FOVEA_ISA {

#if defined(__AVX512VNNI__)
inline constexpr bool kMultipliesBytes = true;
#else
inline constexpr bool kMultipliesBytes = false;
#endif
// Sums of whole numbers are other bits than sums of floats.
#if defined(__SSE2__) && !defined(FOVEA_PORTABLE_BITS)
inline constexpr bool kMultipliesWords = true;
#else
inline constexpr bool kMultipliesWords = false;
#endif

#if defined(__SSE2__)
/// For each lane the products of two numbers of 16 bits, added up.
template <class Words>
FOVEA_INLINE Words products_of_words(Words a, Words b) {
    if constexpr (kIsTwice<Words>) {
        return {products_of_words(a.low, b.low), products_of_words(a.high, b.high)};
    } else {
#if defined(__AVX512BW__)
        return Words(_mm512_madd_epi16(__m512i(a), __m512i(b)));
#elif defined(__AVX2__)
        return Words(_mm256_madd_epi16(__m256i(a), __m256i(b)));
#else
        return Words(_mm_madd_epi16(__m128i(a), __m128i(b)));
#endif
    }
}
#endif

#if defined(__AVX512VNNI__)

/// For each lane `sum` and the products of four bytes: parts without a sign, digits with one.
FOVEA_INLINE ints add_products_of_bytes(words part, words digits, ints sum) {
    return ints(_mm512_dpbusd_epi32(__m512i(sum), __m512i(part), __m512i(digits)));
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

/// Bytes without a sign of four steps: kOffset is added to numbers.
template <int Bits>
struct NumberBytes;

template <>
struct NumberBytes<8> {
    static constexpr int kParts = 1, kOffset = 128;

    words line;
    explicit FOVEA_INLINE NumberBytes(const std::uint32_t* from) : line(load_as<words>(from)) {}
    template <int>
    FOVEA_INLINE words part() const {
        const ints rows_together{0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
        return bytes_of_four(ordered(line, rows_together)) ^ 0x80808080U;
    }
    /// 16 steps in the order in which four are together.
    static FOVEA_INLINE words in_parts(words steps) { return steps; }
};

template <>
struct NumberBytes<4> {
    static constexpr int kParts = 2, kOffset = 8;

    words line;
    explicit FOVEA_INLINE NumberBytes(const std::uint32_t* from) : line(load_as<words>(from)) {}
    template <int Part>
    FOVEA_INLINE words part() const {
        return line >> 4U * Part & 0x0f0f0f0fU;
    }
    static FOVEA_INLINE words in_parts(words steps) {
        return ordered(steps, ints{0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15});
    }
};

#else
template <int Bits>
struct NumberBytes {
    static constexpr int kParts = 0;
};
#endif

/// Numbers of 16 bits of two steps, the first one in the lower half: `first_of` the pairs of 16
/// steps, and the one kApart on. Those of 4 bits have kOffset added.
template <int Bits>
struct NumberWords;

template <>
struct NumberWords<8> {
    static constexpr int kParts = 2, kOffset = 0, kApart = 1;
    static constexpr int first_of(int pair) { return 2 * pair; }

    const std::uint32_t* line;
    explicit FOVEA_INLINE NumberWords(const std::uint32_t* from) : line(from) {}
    template <int Part>
    FOVEA_INLINE words part() const {
        const std::uint32_t *const first = line + 8 * Part, *const second = first + 4;
#if defined(__AVX2__)
        const auto sixteen = [](const std::uint32_t* from) FOVEA_LAMBDA {
            return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
        };
        const __m128i low = _mm_unpacklo_epi8(sixteen(first), sixteen(second)),
                      high = _mm_unpackhi_epi8(sixteen(first), sixteen(second));
#if defined(__AVX512BW__)
        return words(_mm512_maskz_cvtepi8_epi16(0xffffffffU, _mm256_set_m128i(high, low)));
#else
        using Half = decltype(words::low);
        return {Half(_mm256_cvtepi8_epi16(low)), Half(_mm256_cvtepi8_epi16(high))};
#endif
#else
        const auto numbers = [](const std::uint32_t* from) FOVEA_LAMBDA {
            const auto sixteen =
                load_as<Vector<signed char>>(reinterpret_cast<const signed char*>(from));
            return words(convert<ints>(sixteen));
        };
        return (numbers(first) & 0xffffU) | numbers(second) << 16U;
#endif
    }
};

template <>
struct NumberWords<4> {
    static constexpr int kParts = 4, kOffset = 8, kApart = 4;
    static constexpr int first_of(int pair) { return pair / 4 * 8 + pair % 4; }

    words line;
    explicit FOVEA_INLINE NumberWords(const std::uint32_t* from)
        : line(in_register(load_as<words>(from))) {}
    template <int Part>
    FOVEA_INLINE words part() const {
        return line >> 4U * Part & 0x000f000fU;
    }
};

}  // namespace fovea::cpu::inline FOVEA_ISA
