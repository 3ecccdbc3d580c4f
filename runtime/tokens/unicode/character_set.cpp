// Ranges merged as they come, and blocks of 64 bits made of them.
#include "character_set.h"

#include <algorithm>
#include <unordered_map>

#include "packed_numbers.h"

namespace fovea::runtime::tokens {

CharacterSet CharacterSet::unpacked(std::string_view packed) {
    CharacterSet set;
    char32_t at = 0;
    for (PackedNumbers numbers(packed); !numbers.at_end();) {
        const char32_t first = at + numbers.next();
        at = first + numbers.next();
        set.ranges_.push_back({first, at});
    }
    return set;
}

void CharacterSet::add(char32_t first, char32_t last) {
    Characters added{first, last + 1};
    const auto begin = std::partition_point(ranges_.begin(), ranges_.end(),
                                            [&](Characters r) { return r.end < added.first; });
    auto end = begin;
    for (; end != ranges_.end() && end->first <= added.end; ++end) {
        added.first = std::min(added.first, end->first);
        added.end = std::max(added.end, end->end);
    }
    ranges_.insert(ranges_.erase(begin, end), added);
}

void CharacterSet::add(const CharacterSet& other) {
    std::vector<Characters> all;
    all.reserve(ranges_.size() + other.ranges_.size());
    std::merge(ranges_.begin(), ranges_.end(), other.ranges_.begin(), other.ranges_.end(),
               std::back_inserter(all),
               [](Characters a, Characters b) { return a.first < b.first; });
    ranges_.clear();
    for (const Characters range : all) {
        if (!ranges_.empty() && range.first <= ranges_.back().end) {
            ranges_.back().end = std::max(ranges_.back().end, range.end);
        } else {
            ranges_.push_back(range);
        }
    }
}

CharacterSet CharacterSet::complement() const {
    CharacterSet outside;
    char32_t at = 0;
    for (const Characters range : ranges_) {
        if (at < range.first) outside.ranges_.push_back({at, range.first});
        at = range.end;
    }
    if (at < kEndOfUnicode) outside.ranges_.push_back({at, kEndOfUnicode});
    return outside;
}

CharacterSet CharacterSet::without(const CharacterSet& other) const {
    return intersection(other.complement());
}

CharacterSet CharacterSet::intersection(const CharacterSet& other) const {
    CharacterSet outside = complement();
    outside.add(other.complement());
    return outside.complement();
}

bool CharacterSet::contains(char32_t c) const {
    const auto range = std::partition_point(ranges_.begin(), ranges_.end(),
                                            [&](Characters r) { return r.end <= c; });
    return range != ranges_.end() && range->first <= c;
}

CharacterTable::CharacterTable(const CharacterSet& set) {
    std::unordered_map<std::uint64_t, std::uint16_t> seen;
    auto range = set.ranges().begin();
    blocks_.reserve(kEndOfUnicode / 64);
    for (char32_t block = 0; block < kEndOfUnicode; block += 64) {
        std::uint64_t word = 0;
        for (; range != set.ranges().end() && range->first < block + 64; ++range) {
            const char32_t first = std::max(range->first, block);
            const char32_t end = std::min<char32_t>(range->end, block + 64);
            word |= ~std::uint64_t{0} >> (64 - (end - first)) << (first - block);
            if (range->end > block + 64) break;
        }
        const auto [place, is_new] = seen.try_emplace(word, std::uint16_t(words_.size()));
        if (is_new) words_.push_back(word);
        blocks_.push_back(place->second);
        if (block < 128) ascii_[block / 64] = word;
    }
}

}  // namespace fovea::runtime::tokens
