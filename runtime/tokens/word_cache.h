// The tokens of words that have been seen.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fovea::runtime::tokens {

/// A hash table that forgets everything when it is full.
class WordCache {
  public:
    /// Longer pieces are not kept.
    static constexpr std::size_t kLongestWord = 256;

    static std::uint64_t hash_of(std::string_view word);

    /// The tokens of a word; false where it is not known.
    bool append(std::string_view word, std::uint64_t hash, std::vector<std::int32_t>& ids) const;
    void keep(std::string_view word, std::uint64_t hash, std::span<const std::int32_t> ids);

  private:
    static constexpr std::size_t kPlaces = 1 << 16, kMostWords = kPlaces / 4 * 3;

    struct Place {
        std::uint64_t hash = 0;  // 0: free
        std::uint32_t word = 0, ids = 0;
        std::uint16_t word_size = 0, id_count = 0;
    };

    std::vector<Place> places_;
    std::string words_;
    std::vector<std::int32_t> ids_;
    std::size_t count_ = 0;
};

}  // namespace fovea::runtime::tokens
