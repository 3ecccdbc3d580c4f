// Products with weights of 8 and 4 bits beside sums in double, and with the bits that each row has
// alone: compiled for an instruction set and run by drawn_products_test.cpp. Prints what is
// wrong.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "runtime/cpu/contract_quantized.h"
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

/// a [rows, steps] times the rows of a weight [columns, steps].
template <int Bits, int Group>
struct Product {
    i64 rows, steps, columns;
    std::vector<std::uint16_t> a;
    WeightLayout layout;
    QuantizedWeight weight;
    std::vector<std::uint32_t> words;

    Product(i64 m, i64 k, i64 n) : rows(m), steps(k), columns(n), layout{{Bits, Group}, n, k} {
        for (i64 i = 0; i < m * k; ++i) a.push_back(drawn_half(125 + int(below(4))));
        constexpr int kLeast = Bits == 8 ? -127 : -8, kMost = Bits == 8 ? 127 : 7;
        for (i64 i = 0; i < n * k; ++i)
            weight.numbers.push_back(std::int8_t(kLeast + below(kMost - kLeast + 1)));
        for (i64 i = 0; i < n * layout.groups(); ++i)
            weight.scales.push_back(std::uint16_t(drawn_half(120 + int(below(3))) & 0x7fffU));
        words.resize(std::size_t(layout.words()) + 2048);
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

    /// Whether each element is its sum, as near as float32 comes where numbers of 4 bits lie as 0
    /// to 15.
    bool is_near(const std::vector<float>& y) const {
        for (i64 i = 0; i < rows; ++i)
            for (i64 j = 0; j < columns; ++j) {
                double sum = 0, size = 0;
                for (i64 k = 0; k < steps; ++k) {
                    const double value = double(widened(a[std::size_t(i * steps + k)])),
                                 scale = double(widened(
                                     weight.scales[std::size_t(j * layout.groups() + k / Group)]));
                    sum += value * weight.numbers[std::size_t(j * steps + k)] * scale;
                    size += std::fabs(value) * scale * (1 << (Bits - 1));
                }
                if (!(std::fabs(sum - double(y[std::size_t(i * columns + j)])) <= 1e-6 * size))
                    return false;
            }
        return true;
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
        if (!is_near(y)) return say("off");
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
        const Product<Bits, Group> product(
            1 + below(i % 4 ? 40 : 150), 16 + below(i % 3 ? 80 : 300), 1 + below(i % 5 ? 50 : 200));
        for (const bool are_along : {true, false})
            if (product.template is_wrong<bf16>(are_along) ||
                product.template is_wrong<float>(are_along))
                return true;
    }
    return false;
}

}  // namespace

int main(int, char** arguments) {
    draw.seed(unsigned(std::atoi(arguments[1])));
    if (kHasMatrixTiles && !fovea::runtime::may_use_tiles()) return 1;
    return has_wrong<8, 16>() || has_wrong<8, 32>() || has_wrong<8, 96>() || has_wrong<4, 32>() ||
           has_wrong<4, 48>() || has_wrong<4, 64>();
}
