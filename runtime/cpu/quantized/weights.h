// Weights of whole numbers with scales (memory/weight_storage.h), as kernels read them: element by
// element, and a vector of 16 rows at a time.
#pragma once

#include "../../memory/weight_storage.h"
#include "../vector.h"

namespace fovea::cpu::inline FOVEA_ISA {

using runtime::WeightLayout;

/// A weight [rows, Depth], addressed by its elements as an array of floats is. For the few that are
/// looked up: a product reads panels.
template <int Bits, int Group, i64 Depth>
struct Weights {
    const std::uint32_t* words;
    i64 at = 0;

    static constexpr WeightLayout kLayout{{Bits, Group}, 0, Depth, Group};

    FOVEA_INLINE Weights operator+(i64 elements) const { return {words, at + elements}; }
    FOVEA_INLINE float operator[](i64 element) const {
        const i64 row = (at + element) / Depth, step = (at + element) % Depth;
        const std::uint32_t scales = words[kLayout.word_of_scale(row, step / Group)];
        const std::uint32_t scale = step / Group % 2 ? scales & 0xffff0000U : scales << 16;
        const std::uint32_t word = words[kLayout.word_of(row, step)];
        const auto above = std::uint32_t(32 - Bits - kLayout.bit_of(row, step));
        const i32 number = Bits == 8 ? i32(word << above) >> 24 : i32(word << above >> 28) - 8;
        float value;
        std::memcpy(&value, &scale, sizeof value);
        return float(number) * value;
    }
};

template <int Bits, int Group, i64 Depth>
FOVEA_INLINE floats load_strided(Weights<Bits, Group, Depth> from, i64 stride, Lanes lanes) {
    floats result{};
    for (i64 i = 0; i < lanes.count; ++i) result[i] = from[i * stride];
    return result;
}
template <int Bits, int Group, i64 Depth>
FOVEA_INLINE floats load(Weights<Bits, Group, Depth> from, Lanes lanes) {
    return load_strided(from, 1, lanes);
}
template <int Bits, int Group, i64 Depth>
FOVEA_INLINE floats load(Weights<Bits, Group, Depth> from) {
    return load_strided(from, 1, lanes_at(0, kLanes));
}

/// 16 bytes as whole numbers.
FOVEA_INLINE floats floats_of_int8(const std::uint32_t* from) {
#if defined(__AVX512F__)
    const __m128i lanes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    return convert<floats>(ints(_mm512_maskz_cvtepi8_epi32(0xffff, lanes)));
#elif defined(__AVX2__)
    using Part = Register<float, 8>;
    const auto part = [](const std::uint32_t* eight) FOVEA_LAMBDA {
        return Part(_mm256_cvtepi32_ps(
            _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(eight)))));
    };
    return {part(from), part(from + 2)};
#else
    const auto eight = load_as<Vector<signed char>>(reinterpret_cast<const signed char*>(from));
    return convert<floats>(convert<ints>(eight));
#endif
}

/// Two vectors of whole numbers, from -128 to 127, as pairs of bfloat16, which holds these.
FOVEA_INLINE words pairs_of_numbers(floats first, floats second) {
#if defined(__AVX512BW__)
    const auto low = __m512i(words(first) >> 16U);
    return words(_mm512_mask_blend_epi16(0xaaaaaaaaU, low, __m512i(second)));
#else
    return words(first) >> 16U | (words(second) & 0xffff0000U);
#endif
}

/// The numbers of a group of 16 rows, in the order of its steps. `Tables` are what a loop that
/// reads them has in registers. `at`: they are floats times a power of two, of 4 bits with 8 added:
/// what they are multiplied with has the inverse (`factor_of`), so that products are exact, and a
/// sum begins with -8 times the sum of what it multiplies. `number`: themselves as floats. `pair`:
/// two of kTogether steps as bfloat16, the one that is `first_of` the pair and the one kApart on.
template <int Bits>
struct Numbers;

template <>
struct Numbers<8> {
    static constexpr int kTogether = 4, kOffset = 0, kApart = 1;
    static constexpr float factor_of(i64 /*step*/) { return 1; }
    static constexpr int first_of(int pair) { return 2 * pair; }

    struct Tables {};

    const std::uint32_t* line;
    FOVEA_INLINE Numbers(const std::uint32_t* from, Tables /*all*/) : line(from) {}
    /// Step 0 to 3 of a line of 64 bytes.
    template <int Step>
    FOVEA_INLINE floats at() const {
        return floats_of_int8(line + 4 * Step);
    }
    template <int Step>
    FOVEA_INLINE floats number() const {
        return at<Step>();
    }
    /// Pair 0 or 1.
    template <int Pair>
    FOVEA_INLINE words pair() const {
        return pairs_of_numbers(at<first_of(Pair)>(), at<first_of(Pair) + kApart>());
    }
};

template <>
struct Numbers<4> {
    static constexpr int kTogether = 8, kOffset = 8, kApart = 4;
    static constexpr float factor_of(i64 step) {
        return step % 8 == 7 ? 1 : 1 / float(1 << 4 * (step % 8));
    }
    static constexpr int first_of(int pair) { return pair; }

#if defined(__AVX512BW__)
    struct Tables {
        floats numbers =
            in_register(floats{-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7});
        /// As bfloat16, twice: of five bits that choose one the highest belongs to a neighbour.
        words halves = in_register(words{0xc0e0c100, 0xc0a0c0c0, 0xc040c080, 0xbf80c000, 0x3f800000,
                                         0x40404000, 0x40a04080, 0x40e040c0, 0xc0e0c100, 0xc0a0c0c0,
                                         0xc040c080, 0xbf80c000, 0x3f800000, 0x40404000, 0x40a04080,
                                         0x40e040c0});
    };
#else
    struct Tables {};
#endif

    words line;
    Tables tables;
    FOVEA_INLINE Numbers(const std::uint32_t* from, Tables held)
        : line(in_register(load_as<words>(from))), tables(held) {}
    /// Step 0 to 7.
    template <int Step>
    FOVEA_INLINE floats at() const {
        // Converted as signed numbers: those of the highest bits are moved down.
        if constexpr (Step == 7) return convert<floats>(ints(line >> 28U));
        else return convert<floats>(ints(line & (15U << 4 * Step)));
    }
    template <int Step>
    FOVEA_INLINE floats number() const {
        const words moved = line >> 4U * Step;
#if defined(__AVX512BW__)
        // Of an index four bits count.
        return floats(_mm512_maskz_permutexvar_ps(0xffff, __m512i(moved), __m512(tables.numbers)));
#else
        return convert<floats>(ints(moved & 15U)) - splat(8.F);
#endif
    }
    /// Pair 0 to 3.
    template <int Pair>
    FOVEA_INLINE words pair() const {
#if defined(__AVX512BW__)
        return words(_mm512_permutexvar_epi16(__m512i(line >> 4U * Pair), __m512i(tables.halves)));
#else
        return pairs_of_numbers(number<Pair>(), number<Pair + kApart>());
#endif
    }
};

/// The scales of a pair of groups of 16 rows: those of the first group, those of the second.
struct Scales {
    floats first, second;
    explicit FOVEA_INLINE Scales(const std::uint32_t* from) {
        const auto both = load_as<cpu::words>(from);
        first = floats(both << 16U);
        second = floats(both & 0xffff0000U);
    }
};

}  // namespace fovea::cpu::inline FOVEA_ISA
