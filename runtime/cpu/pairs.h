// Pairs of bfloat16: two neighbours of a contracted axis in 32 bits, the first in the lower half.
// One instruction multiplies two pairs and adds both products to a float32; where the machine has
// none, the pairs are widened and two multiply-adds do it.
#pragma once

#include "neon.h"
#include "vector.h"

namespace fovea::cpu::inline FOVEA_ISA {

#ifdef FOVEA_MULTIPLIES_PAIRS
inline constexpr bool kMultipliesPairs = true;
using Pairs = words;
FOVEA_INLINE Pairs load_pairs(const bf16* from) { return load_as<words>(from); }
/// The pair at `from` in every lane.
FOVEA_INLINE Pairs splat_pair(const bf16* from) {
    std::uint32_t bits;
    std::memcpy(&bits, from, sizeof bits);
    return splat_as<words>(bits);
}
/// One value with 0 beside it, in every lane.
FOVEA_INLINE Pairs splat_half(const bf16* from) {
    return splat_as<words>(std::uint32_t(from->bits));
}
/// sum + a.first * b.first + a.second * b.second
FOVEA_INLINE floats add_products(Pairs a, Pairs b, floats sum) {
#if defined(__AVX512BF16__)
    return floats(_mm512_dpbf16_ps(__m512(sum), __m512bh(a), __m512bh(b)));
#else
    return neon_add_pairs(a, b, sum);
#endif
}
#else
inline constexpr bool kMultipliesPairs = false;
struct Pairs {
    floats first, second;
};
FOVEA_INLINE Pairs load_pairs(const bf16* from) {
    const words bits = load_as<words>(from);
    return {floats(bits << 16), floats(bits & 0xffff0000U)};
}
FOVEA_INLINE float widen_bits(std::uint32_t bits) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}
FOVEA_INLINE Pairs splat_pair(const bf16* from) {
    std::uint32_t bits;
    std::memcpy(&bits, from, sizeof bits);
    return {splat(widen_bits(bits << 16)), splat(widen_bits(bits & 0xffff0000U))};
}
FOVEA_INLINE Pairs splat_half(const bf16* from) {
    return {splat(widen_bits(std::uint32_t(from->bits) << 16)), floats{}};
}
FOVEA_INLINE floats add_products(Pairs a, Pairs b, floats sum) {
    return multiply_add(a.second, b.second, multiply_add(a.first, b.first, sum));
}
#endif

/// 16 pairs of floats that are rounded.
FOVEA_INLINE words narrow_pairs(floats first, floats second) {
#if defined(__AVX512BF16__)
    using Halves = Register<std::uint16_t, 32>;
    const auto both = Halves(_mm512_cvtne2ps_pbh(__m512(second), __m512(first)));
    return words(__builtin_shufflevector(both, both, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6,
                                         22, 7, 23, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29,
                                         14, 30, 15, 31));
#else
    return convert<words>(narrow<bf16>(first)) | convert<words>(narrow<bf16>(second)) << 16;
#endif
}

/// 16 elements, rounded if they are floats, in the lower halves of 32 bits; lanes that take no part
/// are 0.
FOVEA_INLINE words half_words(const bf16* from, Lanes lanes) {
    return convert<words>(load_halves(from, lanes));
}
FOVEA_INLINE words half_words(const float* from, Lanes lanes) {
    return convert<words>(narrow<bf16>(load(from, lanes)));
}
template <class T>
FOVEA_INLINE words half_words(const T* from, std::integral_constant<i64, 1>, Lanes lanes) {
    return half_words(from, lanes);
}
template <class T>
FOVEA_INLINE words half_words(const T* from, i64 stride, Lanes lanes) {
    T gathered[kLanes]{};
    for (i64 lane = 0; lane < lanes.count; ++lane) gathered[lane] = from[lane * stride];
    return half_words(gathered, Lanes{});
}

/// 16 pairs that lie one after the other: `count` elements, at most 32, and 0 from there on.
FOVEA_INLINE words words_along(const bf16* from, i64 count) {
    if (count >= 2 * kLanes) return load_as<words>(from);
    bf16 some[2 * kLanes]{};
    std::memcpy(some, from, std::size_t(count) * sizeof(bf16));
    return load_as<words>(some);
}
FOVEA_INLINE words words_along(const float* from, i64 count) {
    bf16 some[2 * kLanes];
    store_as(some, narrow<bf16>(load(from, lanes_at(0, count))));
    store_as(some + kLanes, narrow<bf16>(load(from + kLanes, lanes_at(kLanes, count))));
    return load_as<words>(some);
}

/// Columns to pairs: lane j of vector i becomes lane i of vector j.
FOVEA_INLINE void transpose(words (&rows)[16]) {
    floats square[16];
    FOVEA_UNROLL for (int i = 0; i < 16; ++i) square[i] = floats(rows[i]);
    transpose(square);
    FOVEA_UNROLL for (int i = 0; i < 16; ++i) rows[i] = words(square[i]);
}

/// A square of a matrix of weights, [row, column], as pairs of columns with the rows in the lanes:
/// pair p of row i comes to to[p * pair_stride + 2 * i].
inline void copy_pairs(bf16* to, i64 pair_stride, const float* from, i64 from_stride, Lanes rows,
                       i64 columns) {
    words square[kLanes];
    FOVEA_UNROLL for (i64 i = 0; i < kLanes; ++i) square[i] =
        i < rows.count ? words_along(from + i * from_stride, columns) : words{};
    transpose(square);
    FOVEA_UNROLL for (i64 p = 0; p < kLanes; ++p) if (2 * p < columns)
        store(reinterpret_cast<i32*>(to + p * pair_stride), ints(square[p]), rows);
}

}  // namespace fovea::cpu::inline FOVEA_ISA
