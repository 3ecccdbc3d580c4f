// Dropout's factors for 16 lanes at a time: the decisions of philox.h, four counters at once.
#pragma once

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

using four_words = std::uint32_t __attribute__((vector_size(16)));
using four_products = std::uint64_t __attribute__((vector_size(32)));

/// Philox4x32-10 for the counters (step, site, row, group) to (step, site, row, group + 3):
/// the words of columns 4 * group to 4 * group + 15, in order.
inline words dropout_words(const DropoutKey& key, int site, i64 row, i64 group) {
    const four_words zero{};
    four_words counter[4]{zero + std::uint32_t(key.step), zero + std::uint32_t(site),
                          zero + std::uint32_t(row),
                          four_words{0, 1, 2, 3} + std::uint32_t(group)};
    std::uint32_t key0 = std::uint32_t(key.seed), key1 = std::uint32_t(key.seed >> 32);
    for (int round = 0; round < 10; ++round, key0 += 0x9E3779B9U, key1 += 0xBB67AE85U) {
        const four_products a =
            __builtin_convertvector(counter[0], four_products) * std::uint64_t(0xD2511F53U);
        const four_products b =
            __builtin_convertvector(counter[2], four_products) * std::uint64_t(0xCD9E8D57U);
        const four_words high_a = __builtin_convertvector(a >> 32, four_words);
        const four_words high_b = __builtin_convertvector(b >> 32, four_words);
        counter[0] = high_b ^ counter[1] ^ key0;
        counter[1] = __builtin_convertvector(b, four_words);
        counter[2] = high_a ^ counter[3] ^ key1;
        counter[3] = __builtin_convertvector(a, four_words);
    }
    words result;
    for (int lane = 0; lane < kLanes; ++lane) result[lane] = counter[lane % 4][lane / 4];
    return result;
}

/// The factors of 16 lanes: lane i is at (row + i * row_step, column + i * column_step).
inline floats dropout_lanes(const DropoutKey& key, int site, float p, i64 row, i64 column,
                            i64 row_step, i64 column_step) {
    if (row_step == 0 && column_step == 1 && column % 4 == 0) {
        const words drawn = dropout_words(key, site, row, column / 4) >> 8;
        const ints kept = ints(drawn) >= i32(runtime::dropout_threshold(double(p)));
        return select(kept, splat(1.F / (1.F - p)), floats{});
    }
    floats result;
    for (int lane = 0; lane < kLanes; ++lane)
        result[lane] = dropout(key, site, p, row + lane * row_step, column + lane * column_step);
    return result;
}

}  // namespace fovea::cpu::inline FOVEA_ISA
