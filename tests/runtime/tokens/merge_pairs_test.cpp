// Merging by search and by heap gives what a rule applied by hand gives.
#include "../../../runtime/tokens/models/merge_pairs.h"

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <utility>

#include "../../random_seed.h"

using namespace fovea::runtime::tokens;

namespace {

using Row = std::vector<std::int32_t>;
using Pairs = std::map<std::pair<std::int32_t, std::int32_t>, std::pair<int, std::int32_t>>;

/// The pair of the lowest rank, the first of several, until there is none.
Row merged(Row row, const Pairs& pairs) {
    for (;;) {
        std::size_t best = row.size();
        int rank = 0;
        for (std::size_t i = 0; i + 1 < row.size(); ++i) {
            const auto pair = pairs.find({row[i], row[i + 1]});
            if (pair == pairs.end() || (best != row.size() && pair->second.first >= rank)) continue;
            best = i;
            rank = pair->second.first;
        }
        if (best == row.size()) return row;
        row[best] = pairs.at({row[best], row[best + 1]}).second;
        row.erase(row.begin() + std::ptrdiff_t(best) + 1);
    }
}

}  // namespace

TEST_CASE("rows of any length merge in the order of ranks, from left to right") {
    std::mt19937 random(fovea::test::random_seed());
    for (int round = 0; round < 60; ++round) {
        Pairs pairs;
        PairMerges merges;
        std::int32_t symbols = 3;
        for (int rank = 0; rank < 40; ++rank) {
            const auto first = std::int32_t(random() % unsigned(symbols));
            const auto second = std::int32_t(random() % unsigned(symbols));
            if (!pairs.try_emplace({first, second}, rank, symbols).second) continue;
            merges.add(first, second, std::uint32_t(rank), symbols++);
        }
        for (const std::size_t size : {0, 1, 2, 7, 48, 49, 50, 300}) {
            Row row(size);
            for (std::int32_t& symbol : row) symbol = std::int32_t(random() % 3);
            Row behind = {-7};  // what stands before is left alone
            behind.insert(behind.end(), row.begin(), row.end());
            merges.apply(behind, 1);
            CHECK(behind.front() == -7);
            behind.erase(behind.begin());
            CHECK(behind == merged(row, pairs));
        }
    }
}
