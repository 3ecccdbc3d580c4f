// Sums of products over tiles of bfloat16 beside sums in double, whole and in parts whose other
// steps are zeros, which give the same bits: compiled for an instruction set and run by
// drawn_products_test.cpp. Prints what is wrong.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "runtime/cpu/paired_tiles.h"
#include "runtime/cpu_features.h"

namespace {

using namespace fovea::cpu;

std::mt19937 draw;

i64 below(i64 most) { return i64(draw() % std::uint32_t(most)); }
/// -1 to 1 in steps that bfloat16 holds.
float drawn() { return float(below(257) - 128) / 128; }

constexpr i64 kSide = 96;  // rows, lanes and steps of a tile; a power of two apart for vectors
using Tile = float[kSide * kSide];

struct Sizes {
    i64 rows, lanes, steps;
};

/// left [row, step] or [step, row], right [step, lane], start and sums [row, lane].
struct Sum {
    Sizes sizes;
    alignas(64) Tile left{}, right{}, start{}, sums{};

    explicit Sum(Sizes drawn_sizes) : sizes(drawn_sizes) {
        for (Tile* tile : {&left, &right, &start})
            for (float& value : *tile) value = drawn();
    }

    /// What other memory holds is no part of a sum.
    static void spoil(std::vector<paired>& memory) {
        std::memset(memory.data(), 0xff, memory.size() * sizeof(paired));
    }
    template <class Body>
    void with_operands(bool steps_along, const Body& body) {
        std::vector<paired> of_left(kSide * kSide + 64), of_right(kSide * kSide + 64);
        spoil(of_left);
        spoil(of_right);
        const RowsInPairs b =
            cut_rows_in_pairs(of_right.data(), kSide, right, kSide, sizes.steps, sizes.lanes);
        const auto right_at = [&](i64 lane, i64 pair) { return b.at(lane, pair); };
        if (steps_along) {
            const StepsInPairs a =
                steps_in_pairs(of_left.data(), kSide, left, kSide, sizes.rows, sizes.steps);
            body(pair_products([&](i64 row, i64 pair) { return a.at(row, pair); }, right_at));
        } else {
            const RowsInPairs a =
                cut_rows_in_pairs(of_left.data(), kSide, left, kSide, sizes.steps, sizes.rows);
            body(pair_products([&](i64 row, i64 pair) { return a.at(row, pair); }, right_at));
        }
    }
    float& left_at(bool steps_along, i64 row, i64 step) {
        return left[steps_along ? row * kSide + step : step * kSide + row];
    }
    auto keep() {
        return [this](i64 row, i64 lane, floats sum) { store(sums + row * kSide + lane, sum); };
    }
    auto begin() {
        return [this](i64 row, i64 lane) { return load(start + row * kSide + lane); };
    }

    void take_whole(bool steps_along, bool from_start) {
        with_operands(steps_along, [&](const auto& products) {
            const Count<kSide> rows{sizes.rows}, lanes{sizes.lanes};
            if (from_start)
                sum_tile<6, 4>(rows, lanes, in_pairs(sizes.steps), begin(), products, keep());
            else sum_tile<6, 4>(rows, lanes, in_pairs(sizes.steps), from_zero, products, keep());
        });
    }
    void take_parts(bool steps_along, const Parts<8>& parts) {
        with_operands(steps_along, [&](const auto& products) {
            sum_parts<6, 4>(in_pairs(parts), Count<kSide>{sizes.lanes}, begin(), products, keep());
        });
    }

    bool is_near(bool steps_along, bool from_start) {
        for (i64 row = 0; row < sizes.rows; ++row)
            for (i64 lane = 0; lane < sizes.lanes; ++lane) {
                double sum = from_start ? double(start[row * kSide + lane]) : 0;
                for (i64 step = 0; step < sizes.steps; ++step)
                    sum += double(left_at(steps_along, row, step)) *
                           double(right[step * kSide + lane]);
                if (!(std::fabs(sum - double(sums[row * kSide + lane])) <= 1e-5)) return false;
            }
        return true;
    }
};

bool is_wrong(Sizes sizes) {
    const auto say = [&](const char* what) {
        std::printf("%s: %d rows, %d lanes, %d steps\n", what, int(sizes.rows), int(sizes.lanes),
                    int(sizes.steps));
        return true;
    };
    for (const bool steps_along : {true, false}) {
        Sum sum(sizes);
        for (const bool from_start : {true, false}) {
            sum.take_whole(steps_along, from_start);
            if (!sum.is_near(steps_along, from_start))
                return say(steps_along ? "off" : "off, steps apart");
        }
        // Rows from block to block take steps from block to block, as masks leave them.
        Parts<8> parts;
        for (i64 row = 0; row < sizes.rows; row += kLanes) {
            const i64 first = below(sizes.steps) / kLanes * kLanes,
                      end = minimum(first + kLanes * (1 + below(4)), sizes.steps),
                      row_end = minimum(row + kLanes, sizes.rows);
            parts.add({row, row_end, first, end});
            if (row == 0) parts.add({row_end, row_end, 0, 0});  // a mask may leave none
            for (i64 r = row; r < row_end; ++r)
                for (i64 step = 0; step < sizes.steps; ++step)
                    if (step < first || step >= end) sum.left_at(steps_along, r, step) = 0;
        }
        sum.take_parts(steps_along, parts);
        if (!sum.is_near(steps_along, true)) return say("parts are off");
        const std::vector<float> of_parts(sum.sums, sum.sums + kSide * kSide);
        sum.take_whole(steps_along, true);
        for (i64 row = 0; row < sizes.rows; ++row)
            if (std::memcmp(of_parts.data() + row * kSide, sum.sums + row * kSide,
                            std::size_t(sizes.lanes) * sizeof(float)) != 0)
                return say("parts are others");
    }
    return false;
}

}  // namespace

int main(int, char** arguments) {
    draw.seed(unsigned(std::atoi(arguments[1])));
    if (kHasMatrixTiles && !fovea::runtime::may_use_tiles()) return 1;
    for (int i = 0; i < 100; ++i)
        if (is_wrong({1 + below(i % 3 ? 40 : kSide), 1 + below(i % 4 ? 40 : kSide),
                      1 + below(i % 2 ? 50 : kSide)}))
            return 1;
    return 0;
}
