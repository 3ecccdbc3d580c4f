// Products of few rows with rows that lie along the steps, too, beside sums in double, and with the
// bits that each pair of rows has alone: compiled for an instruction set and run by
// drawn_products_test.cpp. Prints what is wrong.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "runtime/cpu/few_rows.h"
#include "runtime/cpu_features.h"

namespace {

using namespace fovea::cpu;

std::mt19937 draw;

i64 below(i64 most) { return i64(draw() % std::uint32_t(most)); }
/// -1 to 1 in steps that bfloat16 holds.
float drawn() { return float(below(257) - 128) / 128; }

/// Rows of so many steps, the last of which ends with its memory.
struct Rows {
    i64 count, steps, stride;
    std::vector<float> values;

    Rows(i64 rows, i64 along) : count(rows), steps(along), stride(along + below(3) * 8) {
        values.resize(std::size_t((count - 1) * stride + steps));
        for (float& value : values) value = drawn();
    }
    template <class T>
    std::vector<T> as() const {
        std::vector<T> result(values.size());
        for (std::size_t i = 0; i < values.size(); ++i)
            if constexpr (std::is_same_v<T, float>) result[i] = values[i];
            else result[i] = to_bf16(values[i]);
        return result;
    }
};

/// The sums [few, all] of some of the rows.
template <class T, i64 Steps>
std::vector<float> multiplied(const Rows& few, const Rows& all, i64 first_few, i64 few_count,
                              i64 first, i64 count) {
    const std::vector<T> a = few.as<T>(), b = all.as<T>();
    std::vector<float> sums(std::size_t(few_count * (count + kLanes)));
    const auto keep = [&](i64 row, i64 column, floats sum) {
        store(sums.data() + row * count + column, sum, lanes_at(column, count));
    };
    const T *const few_rows = a.data() + first_few * few.stride, *const all_rows =
                                                                     b.data() + first * all.stride;
    if constexpr (std::is_same_v<T, paired>)
        multiply_few_rows(few_count, count, fixed<Steps>, StepsInPairs{few_rows, few.stride},
                          StepsInPairs{all_rows, all.stride}, keep);
    else
        multiply_few_rows(few_count, count, fixed<Steps>, tile_rows_at(few_rows, few.stride),
                          tile_rows_at(all_rows, all.stride), keep);
    sums.resize(std::size_t(few_count * count));
    return sums;
}

template <class T, i64 Steps>
bool is_wrong() {
    const Rows few(1 + below(8), Steps), all(1 + below(90), Steps);
    const auto say = [&](const char* what) {
        std::printf("%s: %d rows, %d columns, %d steps of %d bytes\n", what, int(few.count),
                    int(all.count), int(Steps), int(sizeof(T)));
        return true;
    };
    const auto sums = multiplied<T, Steps>(few, all, 0, few.count, 0, all.count);
    for (i64 row = 0; row < few.count; ++row)
        for (i64 column = 0; column < all.count; ++column) {
            double sum = 0;
            for (i64 k = 0; k < Steps; ++k)
                sum += double(few.values[std::size_t(row * few.stride + k)]) *
                       double(all.values[std::size_t(column * all.stride + k)]);
            const float got = sums[std::size_t(row * all.count + column)];
            if (!(std::fabs(sum - double(got)) <= 1e-5)) return say("off");
        }
    const i64 row = below(few.count), first = below(all.count),
              count = 1 + below(all.count - first);
    const auto some = multiplied<T, Steps>(few, all, row, 1, first, count);
    if (std::memcmp(some.data(), sums.data() + row * all.count + first,
                    std::size_t(count) * sizeof(float)) != 0)
        return say("other bits alone");
    return false;
}

template <class T>
bool is_wrong_of() {
    return is_wrong<T, 64>() || is_wrong<T, 128>() || is_wrong<T, 8>() || is_wrong<T, 24>() ||
           is_wrong<T, 32>() || is_wrong<T, 80>() || is_wrong<T, 17>();
}

}  // namespace

int main(int, char** arguments) {
    draw.seed(unsigned(std::atoi(arguments[1])));
    if (kHasMatrixTiles && !fovea::runtime::may_use_tiles()) return 1;
    for (int i = 0; i < 60; ++i)
        if (is_wrong_of<float>() || is_wrong_of<bf16>()) return 1;
    return 0;
}
