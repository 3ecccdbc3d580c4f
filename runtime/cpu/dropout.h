// Dropout's factors for 16 lanes at a time: the decisions of philox.h, four counters at once.
#pragma once

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "../philox.h"
#include "vector.h"

namespace fovea::cpu::inline FOVEA_ISA {

/// What one call of a program draws with.
struct DropoutKey {
    std::uint64_t seed = 0, step = 0;
};

/// 0 or 1 / (1 - p) at (row, column).
inline float dropout(const DropoutKey& key, int site, float p, i64 row, i64 column) {
    const bool kept =
        runtime::dropout_keep(key.seed, key.step, std::uint32_t(site), std::uint32_t(row),
                              std::uint32_t(column), double(p));
    return kept ? 1.F / (1.F - p) : 0.F;
}

using four_words = std::uint64_t __attribute__((vector_size(32)));  // words in the lower halves
using eight_words = std::uint64_t __attribute__((vector_size(64)));

/// The 64-bit products of the lower halves; the upper halves may hold anything.
FOVEA_INLINE four_words multiply_words(four_words a, std::uint32_t b) {
#ifdef __AVX2__
    return four_words(_mm256_mul_epu32(__m256i(a), __m256i(four_words{} + b)));
#else
    return (a & 0xffffffffU) * std::uint64_t(b);
#endif
}

/// Philox4x32-10 for the counters (step, site, row, group) to (step, site, row, group + 3):
/// the words of columns 4 * group to 4 * group + 15, in order.
FOVEA_INLINE words dropout_words(const DropoutKey& key, int site, i64 row, i64 group) {
    const four_words zero{};
    four_words a = zero + std::uint32_t(key.step), b = zero + std::uint32_t(site);
    four_words c = zero + std::uint32_t(row), d = four_words{0, 1, 2, 3} + std::uint32_t(group);
    std::uint32_t key0 = std::uint32_t(key.seed), key1 = std::uint32_t(key.seed >> 32);
    for (int round = 0; round < 10; ++round, key0 += 0x9E3779B9U, key1 += 0xBB67AE85U) {
        const four_words from_a = multiply_words(a, 0xD2511F53U);
        const four_words from_c = multiply_words(c, 0xCD9E8D57U);
        a = (from_c >> 32) ^ b ^ key0;
        b = from_c;
        c = (from_a >> 32) ^ d ^ key1;
        d = from_a;
    }
    constexpr std::uint64_t kLower = 0xffffffffU;
    const four_words ab = (a & kLower) | (b << 32), cd = (c & kLower) | (d << 32);
    const eight_words drawn = __builtin_shufflevector(ab, cd, 0, 4, 1, 5, 2, 6, 3, 7);
    return load_as<words>(reinterpret_cast<const std::uint32_t*>(&drawn));
}

/// The factors of 16 lanes, one by one, whatever their positions.
inline floats dropout_scattered(const DropoutKey& key, int site, float p, i64 row, i64 column,
                                i64 row_step, i64 column_step) {
    floats result;
    for (int lane = 0; lane < kLanes; ++lane)
        result[lane] = dropout(key, site, p, row + lane * row_step, column + lane * column_step);
    return result;
}

/// The factors of 16 lanes: lane i is at (row + i * row_step, column + i * column_step).
FOVEA_INLINE floats dropout_lanes(const DropoutKey& key, int site, float p, i64 row, i64 column,
                            i64 row_step, i64 column_step) {
    if (row_step == 0 && column_step == 1 && column % 4 == 0) {
        const words drawn = dropout_words(key, site, row, column / 4) >> 8;
        const ints kept = ints(drawn) >= i32(runtime::dropout_threshold(double(p)));
        return select(kept, splat(1.F / (1.F - p)), floats{});
    }
    return dropout_scattered(key, site, p, row, column, row_step, column_step);
}

}  // namespace fovea::cpu::inline FOVEA_ISA
