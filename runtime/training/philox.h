// The counter-based generator Philox4x32-10, and dropout's decisions drawn from it. Header only and
// without state: any element can be computed anywhere, again in the backward pass, on any target.
#pragma once

#include <array>
#include <cstdint>

#include "dropout_threshold.h"

namespace fovea::runtime {

/// Philox4x32-10 (Salmon, Moraes, Dror and Shaw 2011, "Parallel random numbers: as easy as 1, 2,
/// 3"): four random words for a counter under a key; the same words as Random123's.
constexpr std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                              std::array<std::uint32_t, 2> key) {
    constexpr std::uint64_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
    constexpr std::uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t product0 = kMultiplier0 * counter[0];
        const std::uint64_t product1 = kMultiplier1 * counter[2];
        counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key[0],
                   static_cast<std::uint32_t>(product1),
                   static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key[1],
                   static_cast<std::uint32_t>(product0)};
        key[0] += kWeyl0;
        key[1] += kWeyl1;
    }
    return counter;
}

/// A seed as a key: the low word first.
constexpr std::array<std::uint32_t, 2> philox_key(std::uint64_t seed) {
    return {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
}

/// A word as a number in [0, 1): its upper 24 bits, times 2^-24, which is exact in float32.
constexpr float uniform_of(std::uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24F; }

/// The four words that decide about columns 4*group to 4*group + 3 of `row` at dropout site
/// `site`. Row and column count without padding; of `step` the low 32 bits are used.
constexpr std::array<std::uint32_t, 4> dropout_words(std::uint64_t seed, std::uint64_t step,
                                                     std::uint32_t site, std::uint32_t row,
                                                     std::uint32_t group) {
    return philox({static_cast<std::uint32_t>(step), site, row, group}, philox_key(seed));
}

/// Whether dropout with probability `p` keeps the element; kept ones are scaled by 1 / (1 - p).
constexpr bool dropout_keep(std::uint64_t seed, std::uint64_t step, std::uint32_t site,
                            std::uint32_t row, std::uint32_t column, double p) {
    const auto words = dropout_words(seed, step, site, row, column / 4);
    return (words[column % 4] >> 8) >= dropout_threshold(p);
}

}  // namespace fovea::runtime
