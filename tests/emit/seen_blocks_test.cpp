// Blocks that bounds leave of a tile of pairs, and sums of them.
#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "runtime/cpu/seen_blocks.h"

using namespace fovea::cpu;

namespace {

constexpr i64 kTile = 64;

/// The rows that each lane sees.
struct Mask {
    std::vector<int> from, end;

    bool sees(i64 row, i64 lane) const {
        return from[std::size_t(lane)] <= row && row < end[std::size_t(lane)];
    }
};

/// A window, a causal mask, lengths, and bounds that go up and down.
std::vector<Mask> masks() {
    std::mt19937 random(3);
    std::vector<Mask> all(4);
    for (int lane = 0; lane < kTile; ++lane) {
        const int lowest = int(random() % 130), more = int(random() % 60);
        const std::pair<int, int> bounds[] = {
            {std::max(lane - 21, 0), lane + 1}, {0, lane + 70}, {0, 37}, {lowest, lowest + more}};
        for (std::size_t i = 0; i < all.size(); ++i) {
            all[i].from.push_back(bounds[i].first);
            all[i].end.push_back(bounds[i].second);
        }
    }
    return all;
}

SeenBlocks<kTile, kTile> seen_of(const Mask& mask, i64 at, i64 rows, i64 lanes) {
    const auto bounds = [&](const std::vector<int>& of) {
        std::vector<int> padded(of.begin(), of.begin() + lanes);
        padded.resize(kTile + kLanes, -1);  // lanes past the end count for nothing
        return lane_bounds<kTile>(lanes, 200, [&](i64 lane) { return load(padded.data() + lane); });
    };
    return seen_blocks<kTile, kTile>(at, rows, lanes, bounds(mask.from), bounds(mask.end));
}

/// Calls visit(mask, at, rows, lanes) for each mask and tiles of many sizes.
template <class Visit>
void for_tiles(const Visit& visit) {
    for (const Mask& mask : masks())
        for (i64 at : {0, 64, 128})
            for (i64 rows : {1, 20, 64})
                for (i64 lanes : {1, 17, 64}) visit(mask, at, rows, lanes);
}

}  // namespace

TEST_CASE("every pair inside is in a block that is seen, seen blocks of a row stand together") {
    for_tiles([](const Mask& mask, i64 at, i64 rows, i64 lanes) {
        const auto seen = seen_of(mask, at, rows, lanes);
        for (i64 row = 0; row < rows; ++row)
            for (i64 lane = 0; lane < lanes; ++lane) {
                const StepRange of_lane = seen.rows_of(lane);
                const StepRange of_row = seen.lanes_of(row / kLanes * kLanes);
                const bool by_lane = of_lane.first <= row && row < of_lane.last;
                const bool by_row = of_row.first <= lane && lane < of_row.last;
                CHECK(by_lane == by_row);
                if (mask.sees(at + row, lane)) CHECK(by_lane);
            }
    });
}

TEST_CASE("rows that some lanes of a vector do not see are at its edges, each once") {
    for_tiles([](const Mask& mask, i64 at, i64 rows, i64 lanes) {
        const auto seen = seen_of(mask, at, rows, lanes);
        for (i64 lane = 0; lane < lanes; ++lane) {
            std::vector<int> edges(kTile, 0);
            for_edge_rows(seen, lane / kLanes * kLanes,
                          [&](i64 row) { ++edges[std::size_t(row)]; });
            const StepRange own = seen.rows_of(lane);
            for (i64 row = 0; row < kTile; ++row) {
                const int visits = edges[std::size_t(row)];
                const bool inside = own.first <= row && row < own.last;
                CHECK(visits <= int(inside));
                if (inside && !mask.sees(at + row, lane)) CHECK(visits == 1);
            }
        }
    });
    // Of lengths that all lanes have in common no row is at an edge, but those behind them.
    int edges = 0;
    for_edge_rows(seen_of(masks()[2], 0, kTile, kTile), 0, [&](i64 row) { edges += row < 37; });
    CHECK(edges == 0);
}

TEST_CASE("blocks without a pair inside are left out") {
    const auto window = seen_of(masks()[0], 0, kTile, kTile);
    CHECK(!window.all);
    CHECK(window.rows_of(0).last == 16);
    CHECK(window.rows_of(48).first == 16);
    CHECK(seen_of(masks()[1], 0, kTile, kTile).all);
    const auto none = seen_of(masks()[2], 64, kTile, kTile);
    CHECK(none.by_lanes().begin()->step == none.by_lanes().begin()->step_end);
}

TEST_CASE("sums of seen blocks are those of the whole tile, to the bit") {
    std::mt19937 random(5);
    std::vector<float> left(kTile * 8), right(8 * kTile), other(kTile * kTile);
    for (auto* values : {&left, &right, &other})
        for (float& value : *values) value = float(random() % 2001) / 1000 - 1;
    for (const Mask& mask : masks())
        for (i64 rows : {1, 20, 64})
            for (i64 lanes : {1, 17, 64}) {
                const auto seen = seen_of(mask, 0, rows, lanes);
                std::vector<float> pairs(kTile * kTile, -7);
                sum_seen<6, 4, Unseen::start>(
                    seen, i64(8), from_zero,
                    products([&](i64 row, i64 step) { return left[std::size_t(row * 8 + step)]; },
                             [&](i64 lane, i64 step) {
                                 return load(right.data() + step * kTile + lane);
                             }),
                    [&](i64 row, i64 lane, floats sum) {
                        store(pairs.data() + row * kTile + lane, sum);
                    });
                for (i64 row = 0; row < rows; ++row)
                    for (i64 lane = 0; lane < lanes; ++lane) {
                        const StepRange of_lane = seen.rows_of(lane);
                        float sum = 0;
                        if (of_lane.first <= row && row < of_lane.last)
                            for (i64 step = 0; step < 8; ++step)
                                sum = std::fma(left[std::size_t(row * 8 + step)],
                                               right[std::size_t(step * kTile + lane)], sum);
                        CHECK(std::fabs(pairs[std::size_t(row * kTile + lane)] - sum) < 1e-5F);
                        if (!mask.sees(row, lane)) pairs[std::size_t(row * kTile + lane)] = 0;
                    }
                std::vector<float> parts(kTile * kTile), whole(kTile * kTile);
                const auto finish_in = [](std::vector<float>& to) {
                    return [&to](i64 row, i64 lane, floats sum) {
                        store(to.data() + row * kTile + lane, sum);
                    };
                };
                const auto values = [&](i64 lane, i64 step) {
                    return load(other.data() + step * kTile + lane);
                };
                const auto check = [&](const auto& some, i64 rows_of_sum, i64 steps,
                                       const auto& left_of) {
                    const auto term = products(left_of, values);
                    sum_parts<6, 4>(some, kTile, from_zero, term, finish_in(parts));
                    sum_tile<6, 4>(rows_of_sum, kTile, steps, from_zero, term, finish_in(whole));
                    CHECK(parts == whole);
                };
                check(seen.by_lanes(), lanes, rows,
                      [&](i64 lane, i64 row) { return pairs[std::size_t(row * kTile + lane)]; });
                check(seen.by_rows(), rows, lanes,
                      [&](i64 row, i64 lane) { return pairs[std::size_t(row * kTile + lane)]; });
            }
}
