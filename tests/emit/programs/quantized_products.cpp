// Products with weights of 8 and 4 bits beside sums in double, and with the bits that each row has
// alone: compiled for an instruction set and run by drawn_products_test.cpp. Prints what is
// wrong.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "runtime/cpu/quantized/contract_quantized.h"
#include "runtime/cpu_features.h"
#include "runtime/weights/quantized_weight.h"

namespace {

using namespace fovea::cpu;
using fovea::runtime::QuantizedWeight;
using fovea::runtime::WeightStorage;

std::mt19937 draw;

i64 below(i64 most) { return i64(draw() % std::uint32_t(most)); }
std::uint16_t drawn_half(int exponent) {
    return std::uint16_t(draw() % 2 << 15 | std::uint32_t(exponent) << 7 | draw() % 128);
}
float widened(std::uint16_t bits) {
    const std::uint32_t word = std::uint32_t(bits) << 16;
    float value;
    std::memcpy(&value, &word, sizeof value);
    return value;
}

/// How far the values of a row are apart.
enum class Sizes { near, far };

/// a [rows, steps] times the rows of a weight [columns, steps].
template <int Bits, int Group>
struct Product {
    i64 rows, steps, columns;
    Sizes sizes;
    std::vector<std::uint16_t> a;
    WeightLayout layout;
    QuantizedWeight weight;
    std::vector<std::uint32_t> words;

    Product(i64 m, i64 k, i64 n, Sizes apart)
        : rows(m), steps(k), columns(n), sizes(apart), layout{{Bits, Group}, n, k, Group} {
        for (i64 i = 0; i < m * k; ++i)
            a.push_back(drawn_half(apart == Sizes::near ? 125 + int(below(4)) : int(below(235))));
        constexpr int kLeast = Bits == 8 ? -127 : -8, kMost = Bits == 8 ? 127 : 7;
        for (i64 i = 0; i < n * k; ++i)
            weight.numbers.push_back(std::int8_t(kLeast + below(kMost - kLeast + 1)));
        for (i64 i = 0; i < n * layout.groups(); ++i)
            weight.scales.push_back(std::uint16_t(drawn_half(120 + int(below(3))) & 0x7fffU));
        words.resize(std::size_t(layout.words()) + 2048);
        pack(layout, weight, std::span(words.data(), std::size_t(layout.words())));
    }

    /// The largest sums that groups have.
    void make_largest() {
        std::ranges::fill(a, std::uint16_t(0x3f80));
        std::ranges::fill(weight.numbers, std::int8_t(Bits == 8 ? -127 : -8));
        pack(layout, weight, std::span(words.data(), std::size_t(layout.words())));
    }

    template <class T>
    static T number_of(std::uint16_t bits) {
        if constexpr (std::is_same_v<T, float>) return widened(bits);
        else return T{bits};
    }

    template <class T, class Stride, class Step>
    std::vector<float> multiplied(const T* values, i64 count, Stride stride, Step step) const {
        std::vector<float> y(std::size_t(count * columns), -7);
        const auto finish = [&](i64 i, i64 j, Lanes lanes, floats sum) {
            store(y.data() + i * columns + j, sum, lanes);
        };
        for (const Panel panel : Panels<8, 1>(1, count, columns, steps, 40 * steps)) {
            auto some = quantized_rows<Bits, Group>(values, stride, steps, step);
            some.take(panel);
            contract_quantized<8>(panel, some, Weights<Bits, Group, 1>{words.data()}, finish);
        }
        return y;
    }

    /// Rows `first` to first + count - 1 of it.
    template <class T>
    std::vector<float> result(i64 first, i64 count, bool are_along) const {
        std::vector<T> values(std::size_t(count * steps) + 64);
        for (i64 i = 0; i < count; ++i)
            for (i64 k = 0; k < steps; ++k)
                values[std::size_t(are_along ? i * steps + k : k * count + i)] =
                    number_of<T>(a[std::size_t((first + i) * steps + k)]);
        if (are_along) return multiplied<T>(values.data(), count, steps, fixed<1>);
        return multiplied<T>(values.data(), count, fixed<1>, count);
    }

    double value_at(i64 row, i64 step) const {
        return double(widened(a[std::size_t(row * steps + step)]));
    }
    /// The largest size among the values of a row that share a group with a step.
    double largest_beside(i64 row, i64 step) const {
        double largest = 0;
        const i64 first = step / Group * Group;
        for (i64 k = first; k < first + Group && k < steps; ++k)
            largest = std::max(largest, std::fabs(value_at(row, k)));
        return largest;
    }
    /// Whether each element is its sum: as near as float32 comes where numbers of 4 bits lie as 0
    /// to 15, or, where values are far apart, as near as so many bits of the largest one of a group
    /// come.
    bool is_near(const std::vector<float>& y, double units) const {
        for (i64 i = 0; i < rows; ++i)
            for (i64 j = 0; j < columns; ++j) {
                double sum = 0, size = 0;
                for (i64 k = 0; k < steps; ++k) {
                    const double value = value_at(i, k),
                                 scale = double(widened(
                                     weight.scales[std::size_t(j * layout.groups() + k / Group)]));
                    sum += value * weight.numbers[std::size_t(j * steps + k)] * scale;
                    size += (sizes == Sizes::near ? std::fabs(value) : largest_beside(i, k)) *
                            scale * (1 << (Bits - 1));
                }
                if (!(std::fabs(sum - double(y[std::size_t(i * columns + j)])) <=
                      units * size + 1e-30))
                    return false;
            }
        return true;
    }

    /// Whether a value that is not finite leaves a finite element of its row, or another row.
    template <class T>
    bool hides(std::uint16_t not_finite) {
        const std::vector<float> before = result<T>(0, rows, true);
        const i64 row = below(rows), at = row * steps + below(steps);
        const std::uint16_t other = std::exchange(a[std::size_t(at)], not_finite);
        const std::vector<float> y = result<T>(0, rows, true);
        a[std::size_t(at)] = other;
        for (i64 i = 0; i < rows * columns; ++i) {
            const auto element = std::size_t(i);
            if (i / columns == row ? std::isfinite(y[element]) : y[element] != before[element])
                return true;
        }
        return false;
    }

    template <class T>
    bool is_wrong(bool are_along) const {
        const auto say = [&](const char* what) {
            std::printf(
                "%s: %d bits, groups of %d, %d rows of %d bytes an element, %s, %d steps, "
                "%d columns\n",
                what, Bits, Group, int(rows), int(sizeof(T)), are_along ? "along" : "apart",
                int(steps), int(columns));
            return true;
        };
        const std::vector<float> y = result<T>(0, rows, are_along);
        const bool takes_halves = sizes == Sizes::far && sizeof(T) == 2;
        if (!is_near(y, takes_halves ? 4e-5 : 1e-6)) return say("off");
        const i64 row = below(rows);
        const auto size = std::size_t(columns);
        const std::vector<float> alone = result<T>(row, 1, are_along);
        if (std::memcmp(alone.data(), y.data() + std::size_t(row) * size, size * 4) != 0)
            return say("alone it is another");
        return false;
    }
};

template <int Bits, int Group>
bool has_wrong() {
    for (int i = 0; i < 12; ++i) {
        Product<Bits, Group> product(1 + below(i % 4 ? 40 : 150), 16 + below(i % 3 ? 80 : 300),
                                     1 + below(i % 5 ? 50 : 200),
                                     i % 3 == 2 ? Sizes::far : Sizes::near);
        for (const bool are_along : {true, false})
            if (product.template is_wrong<bf16>(are_along) ||
                product.template is_wrong<float>(are_along))
                return true;
        for (const std::uint16_t not_finite : {0x7f80, 0xff80, 0x7fc0})
            if (product.template hides<bf16>(not_finite) ||
                product.template hides<float>(not_finite)) {
                std::printf("%d bits, groups of %d: hidden\n", Bits, Group);
                return true;
            }
    }
    return false;
}

template <int Bits, int Group>
bool has_wrong_largest() {
    Product<Bits, Group> product(5, 2 * Group, 17, Sizes::near);
    product.make_largest();
    return product.template is_wrong<bf16>(true) || product.template is_wrong<float>(true);
}

}  // namespace

int main(int, char** arguments) {
    draw.seed(unsigned(std::atoi(arguments[1])));
    if (kHasMatrixTiles && !fovea::runtime::may_use_tiles()) return 1;
    return has_wrong<8, 16>() || has_wrong<8, 32>() || has_wrong<8, 96>() || has_wrong<4, 32>() ||
           has_wrong<4, 48>() || has_wrong<4, 64>() || has_wrong_largest<8, 512>() ||
           has_wrong_largest<8, 4096>() || has_wrong_largest<4, 4096>();
}
