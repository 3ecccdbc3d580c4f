// The merges of a byte-pair encoding, and their application to a row of symbols.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fovea::runtime::tokens {

class PairMerges {
  public:
    void reserve(std::size_t count);
    /// `first` and `second` merge into `both`, before all pairs of larger ranks; a later merge of
    /// the same pair takes the place of the former.
    void add(std::int32_t first, std::int32_t second, std::uint32_t rank, std::int32_t both);

    bool contains(std::int32_t first, std::int32_t second) const {
        return find(first, second).rank != kNoRank;
    }

    /// Merges the symbols from `start` on: always the pair of the lowest rank, of equal ones the
    /// first, until none is left.
    void apply(std::vector<std::int32_t>& symbols, std::size_t start) const;

  private:
    static constexpr std::uint32_t kNoRank = 0xFFFFFFFF;

    struct Merge {
        std::uint64_t pair = 0;
        std::uint32_t rank = kNoRank;  // of a place that is free
        std::int32_t both = 0;
    };

    const Merge& find(std::int32_t first, std::int32_t second) const {
        const std::uint64_t pair = key_of(first, second);
        for (std::size_t at = place_of(pair);; ++at) {
            const Merge& merge = places_[at & mask_];
            if (merge.rank == kNoRank || merge.pair == pair) return merge;
        }
    }

    static std::uint64_t key_of(std::int32_t first, std::int32_t second) {
        return std::uint64_t{static_cast<std::uint32_t>(first)} << 32 |
               static_cast<std::uint32_t>(second);
    }
    std::size_t place_of(std::uint64_t pair) const {
        return static_cast<std::size_t>(pair * 0x9E3779B97F4A7C15u >> 32) & mask_;
    }

    void apply_to_few(std::vector<std::int32_t>& symbols, std::size_t start) const;
    void apply_to_many(std::vector<std::int32_t>& symbols, std::size_t start) const;

    std::vector<Merge> places_ = std::vector<Merge>(2);  // a hash table with linear probing
    std::size_t mask_ = 1;
    std::size_t count_ = 0;
};

}  // namespace fovea::runtime::tokens
