// Dropout's factors: the decisions of philox.h, sixteen at a time or sixty-four.
#pragma once

#include "../training/dropout_threshold.h"
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

/// Where a kernel draws: the number of the place in the model, and the row that its first one is
/// among those of the whole batch, which other shards may have begun.
struct DropoutSite {
    constexpr DropoutSite(int site, i64 row = 0) : number(std::uint64_t(site)), first_row(row) {}
    std::uint64_t number;
    i64 first_row;
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
#if defined(__aarch64__)
    else if constexpr (sizeof(V) == 16) return neon_multiply_words(a, b);
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

inline constexpr std::uint32_t kPhiloxA = 0xD2511F53U, kPhiloxC = 0xCD9E8D57U;

/// Rounds `first` to 9 of Philox4x32-10 for counters (a, b, c, d): the four words of each.
template <class V>
FOVEA_INLINE void philox_lanes(const DropoutKey& key, V& a, V& b, V& c, V& d, int first = 0) {
    FOVEA_UNROLL for (int round = first; round < 10; ++round) {
        const V from_a = multiply_words(a, kPhiloxA), from_c = multiply_words(c, kPhiloxC);
        a = mix_words(from_c, b, key.rounds[round][0]);
        b = from_c;
        c = mix_words(from_a, d, key.rounds[round][1]);
        d = from_a;
    }
}

/// What the counters (step, site, row, any group) share after three rounds: b of the second, d and
/// the product of c of the third.
template <class V>
struct PhiloxRow {
    V b, d, from_c;
};
template <class V>
FOVEA_INLINE PhiloxRow<V> philox_row(const DropoutKey& key, DropoutSite site, V row) {
    const V from_row = multiply_words(row + splat_as<V>(std::uint64_t(site.first_row)), kPhiloxC);
    const V a = mix_words(from_row, splat_as<V>(site.number), key.rounds[0][0]);
    const V from_a = multiply_words(a, kPhiloxA);
    const V c = mix_words(from_a, splat_as<V>(key.step * kPhiloxA), key.rounds[1][1]);
    return {from_row, from_a, multiply_words(c, kPhiloxC)};
}

/// What the counters (step, any site, any row, group) share: the product of c of the second round.
template <class V>
FOVEA_INLINE V philox_group(const DropoutKey& key, V group) {
    const std::uint64_t mixed = (key.step * kPhiloxA >> 32) ^ key.rounds[0][1];
    return multiply_words(group ^ mixed, kPhiloxC);
}

/// The four words of the counters of rows and groups, from what these share.
template <class V>
FOVEA_INLINE void philox_grid(const DropoutKey& key, const PhiloxRow<V>& row, V group, V& a, V& b,
                              V& c, V& d) {
    const V from_a = multiply_words(mix_words(group, row.b, key.rounds[1][0]), kPhiloxA);
    a = mix_words(row.from_c, group, key.rounds[2][0]);
    b = row.from_c;
    c = mix_words(from_a, row.d, key.rounds[2][1]);
    d = from_a;
    philox_lanes(key, a, b, c, d, 3);
}

/// The lower halves of a and b in turn: a0, b0, a1, b1, …
template <class V>
FOVEA_INLINE V join_words(V a, V b) {
    if constexpr (kIsTwice<V>) return {join_words(a.low, b.low), join_words(a.high, b.high)};
#if defined(__AVX512F__)
    else if constexpr (sizeof(V) == 64)
        return V(_mm512_mask_shuffle_epi32(__m512i(a), 0xaaaa, __m512i(b), _MM_PERM_CCAA));
#endif
    else return (a & 0xffffffffU) | (b << 32);
}

/// a0, b0, a2, b2, …; and a1, b1, a3, b3, …
template <class V>
FOVEA_INLINE V even_longs(V a, V b) {
    if constexpr (kIsTwice<V>) return {even_longs(a.low, b.low), even_longs(a.high, b.high)};
    else if constexpr (sizeof(V) == 64)
        return __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14);
    else if constexpr (sizeof(V) == 32) return __builtin_shufflevector(a, b, 0, 4, 2, 6);
    else return __builtin_shufflevector(a, b, 0, 2);
}
template <class V>
FOVEA_INLINE V odd_longs(V a, V b) {
    if constexpr (kIsTwice<V>) return {odd_longs(a.low, b.low), odd_longs(a.high, b.high)};
    else if constexpr (sizeof(V) == 64)
        return __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
    else if constexpr (sizeof(V) == 32) return __builtin_shufflevector(a, b, 1, 5, 3, 7);
    else return __builtin_shufflevector(a, b, 1, 3);
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
FOVEA_INLINE words dropout_words(const DropoutKey& key, DropoutSite site, i64 row, i64 group) {
    using V = Longs<4>;
    constexpr std::uint64_t kNumbers[] = {0, 1, 2, 3};
    V a = splat_as<V>(key.step), b = splat_as<V>(site.number);
    V c = splat_as<V>(std::uint64_t(row + site.first_row)),
      d = load_as<V>(kNumbers) + std::uint64_t(group);
    philox_lanes(key, a, b, c, d);
    return in_turn<words>(join_words(a, b), join_words(c, d));
}

/// Sixteen lanes as two vectors of 64 bits: the even lanes, and the odd ones, with what lies
/// between them in the upper halves; and such vectors' lower halves as sixteen lanes.
using LanePairs = Twice<Longs<8>>;
FOVEA_INLINE LanePairs lane_pairs(words lanes) { return {Longs<8>(lanes), Longs<8>(lanes) >> 32}; }
FOVEA_INLINE words lanes_of_pairs(LanePairs pairs) {
    return words(join_words(pairs.low, pairs.high));
}

/// The four words of sixteen counters (step, site, row[lane], group[lane]): word i decides about
/// column 4 * group + i.
FOVEA_INLINE void dropout_words(const DropoutKey& key, DropoutSite site, words row, words group,
                                words (&drawn)[4]) {
    LanePairs a = splat_as<LanePairs>(key.step), b = splat_as<LanePairs>(site.number);
    LanePairs c = lane_pairs(row + std::uint32_t(site.first_row)), d = lane_pairs(group);
    philox_lanes(key, a, b, c, d);
    drawn[0] = lanes_of_pairs(a), drawn[1] = lanes_of_pairs(b);
    drawn[2] = lanes_of_pairs(c), drawn[3] = lanes_of_pairs(d);
}

/// 0 or 1 / (1 - p) for each word.
FOVEA_INLINE floats dropout_factors(words drawn, float p) {
    const ints kept = ints(drawn >> 8) >= i32(runtime::dropout_threshold(double(p)));
    return select(kept, splat(1.F / (1.F - p)), floats{});
}

/// The factor at (row, column).
FOVEA_INLINE float dropout(const DropoutKey& key, DropoutSite site, float p, i64 row, i64 column) {
    const words drawn = dropout_words(key, site, row, column / 4);
    const bool kept = (drawn[column % 4] >> 8) >= runtime::dropout_threshold(double(p));
    return kept ? 1.F / (1.F - p) : 0.F;
}

/// The factors of 16 lanes, whatever their positions: each draws four words and takes one.
inline floats dropout_scattered(const DropoutKey& key, DropoutSite site, float p, i64 row,
                                i64 column, i64 row_step, i64 column_step) {
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
FOVEA_INLINE floats dropout_lanes(const DropoutKey& key, DropoutSite site, float p, i64 row,
                                  i64 column, i64 row_step, i64 column_step) {
    if (row_step == 0 && column_step == 1 && column % 4 == 0)
        return dropout_factors(dropout_words(key, site, row, column / 4), p);
    return dropout_scattered(key, site, p, row, column, row_step, column_step);
}

}  // namespace fovea::cpu::inline FOVEA_ISA
