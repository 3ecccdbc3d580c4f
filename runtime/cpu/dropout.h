// Dropout's factors: the decisions of philox.h, sixteen at a time or sixty-four.
#pragma once

#include "../philox.h"
#include "vector.h"

namespace fovea::cpu::inline FOVEA_ISA {

/// What one call of a program draws with: its step, and the keys of Philox's ten rounds.
struct DropoutKey {
    DropoutKey(std::uint64_t seed, std::uint64_t call_step) : step(std::uint32_t(call_step)) {
        for (std::uint32_t round = 0; round < 10; ++round) {
            rounds[round][0] = std::uint32_t(seed) + round * 0x9E3779B9U;
            rounds[round][1] = std::uint32_t(seed >> 32) + round * 0xBB67AE85U;
        }
    }
    std::uint64_t step;
    std::uint64_t rounds[10][2];  // in the lower halves
};

/// Lanes of 64 bits that hold a word in their lower half, and anything in the upper one.
template <int Count>
struct LongsOf {
    using type = Twice<typename LongsOf<Count / 2>::type>;
};
template <int Count>
    requires(Count <= kRegisterLanes / 2)
struct LongsOf<Count> : RegisterOf<std::uint64_t, Count> {};
template <int Count>
using Longs = typename LongsOf<Count>::type;

/// The 64-bit products of the lower halves with `b`.
template <class V>
FOVEA_INLINE V multiply_words(V a, std::uint32_t b) {
    if constexpr (kIsTwice<V>) return {multiply_words(a.low, b), multiply_words(a.high, b)};
#if defined(__AVX512F__)
    else if constexpr (sizeof(V) == 64)
        return V(_mm512_maskz_mul_epu32(0xff, __m512i(a), __m512i(V{} + b)));
#endif
#if defined(__AVX2__)
    else if constexpr (sizeof(V) == 32) return V(_mm256_mul_epu32(__m256i(a), __m256i(V{} + b)));
#endif
#if defined(__SSE2__)
    else if constexpr (sizeof(V) == 16) return V(_mm_mul_epu32(__m128i(a), __m128i(V{} + b)));
#endif
    else return (a & 0xffffffffU) * std::uint64_t(b);
}

/// (product >> 32) ^ b ^ key.
template <class V>
FOVEA_INLINE V mix_words(V product, V b, std::uint64_t key) {
    if constexpr (kIsTwice<V>)
        return {mix_words(product.low, b.low, key), mix_words(product.high, b.high, key)};
#if defined(__AVX512VL__)
    else if constexpr (sizeof(V) == 64)
        return V(_mm512_ternarylogic_epi64(__m512i(product >> 32), __m512i(b), __m512i(V{} + key),
                                           0x96));
    else if constexpr (sizeof(V) == 32)
        return V(_mm256_ternarylogic_epi64(__m256i(product >> 32), __m256i(b), __m256i(V{} + key),
                                           0x96));
#endif
    else return (product >> 32) ^ b ^ key;
}

/// Philox4x32-10 for counters (a, b, c, d): the four words of each.
template <class V>
FOVEA_INLINE void philox_lanes(const DropoutKey& key, V& a, V& b, V& c, V& d) {
    FOVEA_UNROLL for (int round = 0; round < 10; ++round) {
        const V from_a = multiply_words(a, 0xD2511F53U), from_c = multiply_words(c, 0xCD9E8D57U);
        a = mix_words(from_c, b, key.rounds[round][0]);
        b = from_c;
        c = mix_words(from_a, d, key.rounds[round][1]);
        d = from_a;
    }
}

/// a0, b0, a1, b1, … as one vector.
template <class To, class V>
FOVEA_INLINE To in_turn(V a, V b) {
    if constexpr (kIsTwice<To>) {
        using Half = decltype(To::low);
        return {Half(interleave_lower(a, b)), Half(interleave_upper(a, b))};
    } else {
        return To(__builtin_shufflevector(a, b, 0, 4, 1, 5, 2, 6, 3, 7));
    }
}

/// The words of columns 4 * group to 4 * group + 15 of a row, in order: of the counters (step,
/// site, row, group) to (step, site, row, group + 3).
FOVEA_INLINE words dropout_words(const DropoutKey& key, int site, i64 row, i64 group) {
    using V = Longs<4>;
    constexpr std::uint64_t kNumbers[] = {0, 1, 2, 3}, kLower = 0xffffffffU;
    V a = splat_as<V>(key.step), b = splat_as<V>(std::uint64_t(site));
    V c = splat_as<V>(std::uint64_t(row)), d = load_as<V>(kNumbers) + std::uint64_t(group);
    philox_lanes(key, a, b, c, d);
    return in_turn<words>((a & kLower) | (b << 32), (c & kLower) | (d << 32));
}

/// The four words of sixteen counters (step, site, row[lane], group[lane]): word i decides about
/// column 4 * group + i.
FOVEA_INLINE void dropout_words(const DropoutKey& key, int site, words row, words group,
                                words (&drawn)[4]) {
    // The even lanes, and the odd ones, with what lies between them in the upper halves.
    using V = Twice<Longs<8>>;
    constexpr std::uint64_t kLower = 0xffffffffU;
    const auto lanes_of = [](words lanes)
                              FOVEA_LAMBDA { return V{Longs<8>(lanes), Longs<8>(lanes) >> 32}; };
    V a = splat_as<V>(key.step), b = splat_as<V>(std::uint64_t(site));
    V c = lanes_of(row), d = lanes_of(group);
    philox_lanes(key, a, b, c, d);
    const auto together = [](V v) FOVEA_LAMBDA { return words((v.low & kLower) | (v.high << 32)); };
    drawn[0] = together(a), drawn[1] = together(b), drawn[2] = together(c), drawn[3] = together(d);
}

/// 0 or 1 / (1 - p) for each word.
FOVEA_INLINE floats dropout_factors(words drawn, float p) {
    const ints kept = ints(drawn >> 8) >= i32(runtime::dropout_threshold(double(p)));
    return select(kept, splat(1.F / (1.F - p)), floats{});
}

/// The factor at (row, column).
FOVEA_INLINE float dropout(const DropoutKey& key, int site, float p, i64 row, i64 column) {
    const words drawn = dropout_words(key, site, row, column / 4);
    const bool kept = (drawn[column % 4] >> 8) >= runtime::dropout_threshold(double(p));
    return kept ? 1.F / (1.F - p) : 0.F;
}

/// The factors of rows row to row + 15, one a lane, at columns column to column + 3; `column` is a
/// multiple of 4.
FOVEA_INLINE void dropout_rows(const DropoutKey& key, int site, float p, i64 row, i64 column,
                               floats (&factors)[4]) {
    words drawn[4];
    dropout_words(key, site, words(iota(row)), splat_as<words>(std::uint32_t(column / 4)), drawn);
    FOVEA_UNROLL for (int i = 0; i < 4; ++i) factors[i] = dropout_factors(drawn[i], p);
}

/// The factors of 16 lanes, whatever their positions: each draws four words and takes one.
inline floats dropout_scattered(const DropoutKey& key, int site, float p, i64 row, i64 column,
                                i64 row_step, i64 column_step) {
    const words lane = words(iota());
    const words rows = lane * std::uint32_t(row_step) + std::uint32_t(row);
    const words columns = lane * std::uint32_t(column_step) + std::uint32_t(column);
    words drawn[4];
    dropout_words(key, site, rows, columns >> 2, drawn);
    const words low = blend((columns & 1U) == 0U, drawn[0], drawn[1]);
    const words high = blend((columns & 1U) == 0U, drawn[2], drawn[3]);
    return dropout_factors(blend((columns & 2U) == 0U, low, high), p);
}

/// The factors of 16 lanes: lane i is at (row + i * row_step, column + i * column_step).
FOVEA_INLINE floats dropout_lanes(const DropoutKey& key, int site, float p, i64 row, i64 column,
                                  i64 row_step, i64 column_step) {
    if (row_step == 0 && column_step == 1 && column % 4 == 0)
        return dropout_factors(dropout_words(key, site, row, column / 4), p);
    return dropout_scattered(key, site, p, row, column, row_step, column_step);
}

}  // namespace fovea::cpu::inline FOVEA_ISA
