// Open addressing; words and ids stand in two rows.
#include "word_cache.h"

#include <cstring>

namespace fovea::runtime::tokens {

std::uint64_t WordCache::hash_of(std::string_view word) {
    constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15u;
    std::uint64_t hash = word.size() * kMultiplier;
    const auto mix = [&](std::uint64_t bits) {
        hash = (hash ^ bits) * kMultiplier;
        hash ^= hash >> 29;
    };
    std::size_t at = 0;
    for (; at + 8 <= word.size(); at += 8) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, word.data() + at, 8);
        mix(bits);
    }
    std::uint64_t rest = 0;
    std::memcpy(&rest, word.data() + at, word.size() - at);
    mix(rest);
    return hash | 1;
}

bool WordCache::append(std::string_view word, std::uint64_t hash,
                       std::vector<std::int32_t>& ids) const {
    if (places_.empty()) return false;
    for (std::size_t at = hash >> 20;; ++at) {
        const Place& place = places_[at % kPlaces];
        if (place.hash == 0) return false;
        if (place.hash != hash || place.word_size != word.size() ||
            std::memcmp(words_.data() + place.word, word.data(), word.size()) != 0)
            continue;
        ids.insert(ids.end(), ids_.begin() + place.ids, ids_.begin() + place.ids + place.id_count);
        return true;
    }
}

void WordCache::keep(std::string_view word, std::uint64_t hash, std::span<const std::int32_t> ids) {
    if (word.size() > kLongestWord || ids.size() > 0xFFFF) return;
    if (places_.empty() || count_ >= kMostWords) {
        places_.assign(kPlaces, {});
        words_.clear();
        ids_.clear();
        count_ = 0;
    }
    std::size_t at = hash >> 20;
    while (places_[at % kPlaces].hash != 0) ++at;
    places_[at % kPlaces] = {hash, std::uint32_t(words_.size()), std::uint32_t(ids_.size()),
                             std::uint16_t(word.size()), std::uint16_t(ids.size())};
    words_ += word;
    ids_.insert(ids_.end(), ids.begin(), ids.end());
    ++count_;
}

}  // namespace fovea::runtime::tokens
