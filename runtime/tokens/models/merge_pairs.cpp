// Short rows look for the lowest rank again and again; long ones keep a heap of pairs.
#include "merge_pairs.h"

#include <algorithm>
#include <queue>
#include <utility>

namespace fovea::runtime::tokens {

namespace {

constexpr std::size_t kFew = 48;

/// A pair that may merge: of the symbol at `at` and the one that followed it.
struct PairCandidate {
    std::uint32_t rank, at;
    std::int32_t first, second, both;
    bool operator<(const PairCandidate& other) const {  // the largest one is taken first
        return std::pair(other.rank, other.at) < std::pair(rank, at);
    }
};

constexpr std::uint32_t kNobody = 0xFFFFFFFF;

struct Link {
    std::int32_t symbol;
    std::uint32_t before, next;
};

}  // namespace

void PairMerges::reserve(std::size_t count) {
    std::size_t size = 2;
    while (size < count * 2) size *= 2;
    if (size <= places_.size()) return;
    std::vector<Merge> old(size);
    old.swap(places_);
    mask_ = size - 1;
    for (const Merge& merge : old) {
        if (merge.rank == kNoRank) continue;
        std::size_t at = place_of(merge.pair);
        while (places_[at & mask_].rank != kNoRank) ++at;
        places_[at & mask_] = merge;
    }
}

void PairMerges::add(std::int32_t first, std::int32_t second, std::uint32_t rank,
                     std::int32_t both) {
    reserve(count_ + 2);
    auto& merge = const_cast<Merge&>(find(first, second));
    if (merge.rank == kNoRank) ++count_;
    merge = {key_of(first, second), rank, both};
}

void PairMerges::apply(std::vector<std::int32_t>& symbols, std::size_t start) const {
    if (symbols.size() - start < 2) return;
    if (symbols.size() - start <= kFew) {
        apply_to_few(symbols, start);
    } else {
        apply_to_many(symbols, start);
    }
}

void PairMerges::apply_to_few(std::vector<std::int32_t>& symbols, std::size_t start) const {
    std::size_t count = symbols.size() - start;
    std::int32_t* const row = symbols.data() + start;
    std::uint32_t ranks[kFew];  // of each symbol and the next
    std::int32_t both[kFew];
    const auto look_up = [&](std::size_t i) {
        const Merge& merge = find(row[i], row[i + 1]);
        ranks[i] = merge.rank;
        both[i] = merge.both;
    };
    for (std::size_t i = 0; i + 1 < count; ++i) look_up(i);
    while (count > 1) {
        const std::size_t best =
            static_cast<std::size_t>(std::min_element(ranks, ranks + count - 1) - ranks);
        if (ranks[best] == kNoRank) break;
        row[best] = both[best];
        std::copy(row + best + 2, row + count, row + best + 1);
        --count;
        if (best + 1 < count) {
            std::copy(ranks + best + 2, ranks + count, ranks + best + 1);
            std::copy(both + best + 2, both + count, both + best + 1);
            look_up(best);
        }
        if (best > 0) look_up(best - 1);
    }
    symbols.resize(start + count);
}

void PairMerges::apply_to_many(std::vector<std::int32_t>& symbols, std::size_t start) const {
    const auto count = static_cast<std::uint32_t>(symbols.size() - start);
    std::vector<Link> row(count);
    for (std::uint32_t i = 0; i < count; ++i)
        row[i] = {symbols[start + i], i == 0 ? kNobody : i - 1, i + 1 == count ? kNobody : i + 1};
    std::priority_queue<PairCandidate> candidates;
    const auto offer = [&](std::uint32_t at) {
        if (at == kNobody || row[at].next == kNobody) return;
        const std::int32_t first = row[at].symbol, second = row[row[at].next].symbol;
        const Merge& merge = find(first, second);
        if (merge.rank != kNoRank) candidates.push({merge.rank, at, first, second, merge.both});
    };
    for (std::uint32_t i = 0; i < count; ++i) offer(i);
    constexpr std::int32_t kGone = -1;
    for (; !candidates.empty();) {
        const PairCandidate best = candidates.top();
        candidates.pop();
        Link& left = row[best.at];
        if (left.symbol != best.first || left.next == kNobody) continue;
        Link& right = row[left.next];
        if (right.symbol != best.second) continue;
        left.symbol = best.both;
        right.symbol = kGone;
        left.next = right.next;
        if (left.next != kNobody) row[left.next].before = best.at;
        offer(left.before);
        offer(best.at);
    }
    symbols.resize(start);
    for (std::uint32_t i = 0; i != kNobody; i = row[i].next) symbols.push_back(row[i].symbol);
}

}  // namespace fovea::runtime::tokens
