// The elementary functions that generated kernels use, against double precision, in units in the
// last place; and dropout's vectors against its definition.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "runtime/cpu/dropout.h"
#include "runtime/cpu/math.h"
#include "runtime/cpu/tile_dropout.h"
#include "runtime/training/philox.h"
#include "tests/emit/ulps.h"

using namespace fovea::cpu;
using fovea::test::ulps;

namespace {

constexpr float kInfinite = std::numeric_limits<float>::infinity();

/// The worst error of `apply(from, to)`, which handles 16 numbers, over an interval.
template <class Apply>
double worst_ulps(const Apply& apply, double (*exact)(double), double low, double high) {
    double worst = 0;
    constexpr int kPoints = 200000;
    for (int i = 0; i < kPoints; i += 16) {
        float from[16], to[16];
        for (int lane = 0; lane < 16; ++lane)
            from[lane] = float(low + (high - low) * (i + lane) / kPoints);
        apply(from, to);
        for (int lane = 0; lane < 16; ++lane)
            worst = std::max(worst, ulps(to[lane], exact(double(from[lane]))));
    }
    return worst;
}

}  // namespace

TEST_CASE("exp") {
    const auto apply = [](const float* from, float* to) { store(to, exp(load(from))); };
    const auto exact = [](double x) { return std::exp(x); };
    CHECK(worst_ulps(apply, exact, -87, 88.7) < 2);
    CHECK(worst_ulps(apply, exact, -1, 1) < 2);
    CHECK(worst_ulps(apply, exact, -300, -86) < 2);
    CHECK(worst_ulps(apply, exact, 88.6, 300) < 2);
    const float from[16] = {1e30F, -1e30F, kInfinite, -kInfinite, std::nanf(""), 0, -0.F, 1e-40F};
    float to[16];
    apply(from, to);
    CHECK(to[0] == kInfinite);
    CHECK(to[1] == 0);
    CHECK(to[2] == kInfinite);
    CHECK(to[3] == 0);
    CHECK(std::isnan(to[4]));
    CHECK(to[5] == 1);
}

TEST_CASE("log") {
    const auto apply = [](const float* from, float* to) { store(to, log(load(from))); };
    const auto exact = [](double x) { return std::log(x); };
    CHECK(worst_ulps(apply, exact, 1e-44, 1e-37) < 2);
    CHECK(worst_ulps(apply, exact, 0.5, 2) < 2);
    CHECK(worst_ulps(apply, exact, 1, 1e6) < 2);
    const float from[16] = {0, -1, kInfinite, std::nanf(""), 1};
    float to[16];
    apply(from, to);
    CHECK(to[0] == -kInfinite);
    CHECK(std::isnan(to[1]));
    CHECK(to[2] == kInfinite);
    CHECK(std::isnan(to[3]));
    CHECK(to[4] == 0);
}

TEST_CASE("powers of two") {
    const auto apply_exp2 = [](const float* from, float* to) { store(to, exp2(load(from))); };
    const auto exact_exp2 = [](double x) { return std::exp2(x); };
    CHECK(worst_ulps(apply_exp2, exact_exp2, -125, 127) < 3);
    CHECK(worst_ulps(apply_exp2, exact_exp2, -1, 1) < 3);
    const auto apply_log2 = [](const float* from, float* to) { store(to, log2(load(from))); };
    const auto exact_log2 = [](double x) { return std::log2(x); };
    CHECK(worst_ulps(apply_log2, exact_log2, 2, 1e6) < 3);
}

TEST_CASE("tanh") {
    const auto apply_tanh = [](const float* from, float* to) { store(to, tanh(load(from))); };
    const auto exact_tanh = [](double x) { return std::tanh(x); };
    CHECK(worst_ulps(apply_tanh, exact_tanh, -12, 12) < 4);
    CHECK(worst_ulps(apply_tanh, exact_tanh, -1, 1) < 4);
    CHECK(worst_ulps(apply_tanh, exact_tanh, -1e-3, 1e-3) < 4);
    CHECK(worst_ulps(apply_tanh, exact_tanh, -1e-37, 1e-37) < 4);
    CHECK(worst_ulps(apply_tanh, exact_tanh, -1e5, 1e5) < 4);
    const float from[16] = {kInfinite, -kInfinite, std::nanf(""), 0, -0.F, 1e-40F, 20, -3e38F};
    float to[16];
    apply_tanh(from, to);
    CHECK(to[0] == 1);
    CHECK(to[1] == -1);
    CHECK(std::isnan(to[2]));
    CHECK(!std::signbit(to[3]));
    CHECK(std::signbit(to[4]));
    CHECK(std::fabs(to[5] - 1e-40F) < 1e-44F);
    CHECK(to[6] == 1);
    CHECK(to[7] == -1);
}

TEST_CASE("sigmoid, square roots") {
    const auto apply_sigmoid = [](const float* from, float* to) { store(to, sigmoid(load(from))); };
    const auto exact_sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
    CHECK(worst_ulps(apply_sigmoid, exact_sigmoid, -80, 40) < 4);
    const auto apply_rsqrt = [](const float* from, float* to) { store(to, rsqrt(load(from))); };
    const auto exact_rsqrt = [](double x) { return 1 / std::sqrt(x); };
    CHECK(worst_ulps(apply_rsqrt, exact_rsqrt, 1e-6, 100) < 2);
}

TEST_CASE("sums across lanes and transposed squares") {
    float from[256], to[256];
    for (int i = 0; i < 256; ++i) from[i] = float(i);
    CHECK(sum_across(load(from)) == 120);
    CHECK(max_across(load(from + 16)) == 31);
    copy_transposed(to, 16, from, 16, {}, {});
    for (int row = 0; row < 16; ++row)
        for (int column = 0; column < 16; ++column)
            CHECK(to[row * 16 + column] == float(column * 16 + row));
}

TEST_CASE("vectors of dropout are its numbers") {
    const DropoutKey key{0x123456789abcdefU, 41};
    for (const i64 column : {0, 4, 16, 7, 1000000}) {
        CAPTURE(column);
        float drawn[16], down[16];
        store(drawn, dropout_lanes(key, 3, 0.25F, 77, column, 0, 1));
        store(down, dropout_lanes(key, 3, 0.25F, column, 5, 2, 0));
        for (int lane = 0; lane < 16; ++lane) {
            CHECK(drawn[lane] == dropout(key, 3, 0.25F, 77, column + lane));
            CHECK(down[lane] == dropout(key, 3, 0.25F, column + 2 * lane, 5));
        }
    }
}

TEST_CASE("dropout is the decisions of its definition") {
    const DropoutKey key{0x123456789abcdefU, 0xa00000029U};
    const auto exact = [](i64 row, i64 column) {
        const bool kept = fovea::runtime::dropout_keep(
            0x123456789abcdefU, 0xa00000029U, 3, std::uint32_t(row), std::uint32_t(column), 0.25);
        return kept ? 1.F / 0.75F : 0.F;
    };
    int kept = 0;
    for (i64 row = 0; row < 40; row += 5)
        for (i64 column = 0; column < 100; column += 4) {
            CHECK(dropout(key, 3, 0.25F, row, column) == exact(row, column));
            kept += dropout(key, 3, 0.25F, row, column) > 0;
        }
    CHECK(kept > 100);
    CHECK(kept < 200);
    // Tiles of [column, row] and of [row, column], seven of the former, three of the latter.
    float columns[8][48], rows[4][48];
    dropout_columns(&columns[0][0], 48, 7, 40, key, 3, 0.25F, 17, 1000000);
    dropout_rows(&rows[0][0], 48, 3, 40, key, 3, 0.25F, 1000000, 36);
    for (i64 lane = 0; lane < 40; ++lane) {
        for (i64 i = 0; i < 7; ++i) CHECK(columns[i][lane] == exact(17 + lane, 1000000 + i));
        for (i64 i = 0; i < 3; ++i) CHECK(rows[i][lane] == exact(1000000 + i, 36 + lane));
    }
}
