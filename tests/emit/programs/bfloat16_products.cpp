// Products of bfloat16 beside sums in double, and with the bits that each row has alone: compiled
// for an instruction set and run by drawn_products_test.cpp. Prints what is wrong.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "runtime/cpu/contract_bfloat16.h"
#include "runtime/cpu_features.h"

namespace {

using namespace fovea::cpu;

std::mt19937 draw;

float below_one() { return std::uniform_real_distribution<float>(-1, 1)(draw); }
float rounded_number(float value) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000U;
    std::memcpy(&value, &bits, sizeof bits);
    return value;
}
bf16 half_of(float value) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    bf16 half;
    half.bits = static_cast<std::uint16_t>(bits >> 16);
    return half;
}

/// How an operand lies.
enum class Rows { along_halves, along_floats, apart_halves, apart_floats };
enum class Columns { apart, along, panels };

/// a [rows, steps] times b [steps, columns], both of numbers that bfloat16 holds.
struct Product {
    i64 rows, steps, columns;
    std::vector<float> a, b;

    Product(i64 m, i64 k, i64 n) : rows(m), steps(k), columns(n) {
        for (i64 i = 0; i < m * k; ++i) a.push_back(rounded_number(below_one()));
        for (i64 i = 0; i < k * n; ++i) b.push_back(rounded_number(below_one()));
    }

    /// Rows `first` to first + count - 1 of it.
    template <class T, class A, class StepA, class B, class StepB>
    std::vector<float> multiplied(i64 count, A a_operand, StepA step_a, B b_operand, StepB step_b,
                                  i64 elements) const {
        std::vector<float> y(std::size_t(count * columns), -7);
        const auto finish = [&](i64 i, i64 j, Lanes lanes, floats sum) {
            store(y.data() + i * columns + j, sum, lanes);
        };
        for (const Panel panel : Panels<6, 4>(1, count, columns, steps, elements))
            contract_bfloat16<6, 4>(panel, columns, a_operand, b_operand, finish,
                                    Sum{steps, step_a, step_b});
        return y;
    }

    template <class T, class B, class StepB>
    std::vector<float> with_rows(i64 first, i64 count, bool are_along, B b_operand,
                                 StepB step_b) const {
        std::vector<T> values(std::size_t(count * steps) + 64);
        for (i64 i = 0; i < count; ++i)
            for (i64 k = 0; k < steps; ++k) {
                const float value = a[std::size_t((first + i) * steps + k)];
                T& to = values[std::size_t(are_along ? i * steps + k : k * count + i)];
                if constexpr (std::is_same_v<T, bf16>) to = half_of(value);
                else to = value;
            }
        const T* const data = values.data();
        if (are_along)
            return multiplied<T>(count, HalfOperand{data, steps}, fixed<1>, b_operand, step_b,
                                 kWidenedFloats);
        return multiplied<T>(count, HalfOperand{data, fixed<1>}, count, b_operand, step_b,
                             kPackedFloats);
    }

    template <class B, class StepB>
    std::vector<float> with_columns(i64 first, i64 count, Rows lie, B b_operand,
                                    StepB step_b) const {
        switch (lie) {
            case Rows::along_halves: return with_rows<bf16>(first, count, true, b_operand, step_b);
            case Rows::along_floats: return with_rows<float>(first, count, true, b_operand, step_b);
            case Rows::apart_halves: return with_rows<bf16>(first, count, false, b_operand, step_b);
            default: return with_rows<float>(first, count, false, b_operand, step_b);
        }
    }

    std::vector<float> result(i64 first, i64 count, Rows rows_lie, Columns columns_lie) const {
        constexpr i64 kWidth = 64;
        const i64 panel = kWidth * ((steps + 1) / 2 * 2), panels = (columns + kWidth - 1) / kWidth;
        std::vector<bf16> values(std::size_t(panels * panel + steps * columns) + 64);
        for (i64 k = 0; k < steps; ++k)
            for (i64 j = 0; j < columns; ++j) {
                const i64 at =
                    columns_lie == Columns::apart ? k * columns + j
                    : columns_lie == Columns::along
                        ? j * steps + k
                        : j / kWidth * panel + k / 2 * 2 * kWidth + j % kWidth * 2 + k % 2;
                values[std::size_t(at)] = half_of(b[std::size_t(k * columns + j)]);
            }
        const bf16* const data = values.data();
        if (columns_lie == Columns::apart)
            return with_columns(first, count, rows_lie, HalfOperand{data, fixed<1>}, columns);
        if (columns_lie == Columns::along)
            return with_columns(first, count, rows_lie, HalfOperand{data, steps}, fixed<1>);
        return with_columns(first, count, rows_lie, PairPanels<kWidth>{data, panel}, fixed<kWidth>);
    }

    /// Whether each element is its sum, as near as float32 comes.
    bool is_near(const std::vector<float>& y) const {
        for (i64 i = 0; i < rows; ++i)
            for (i64 j = 0; j < columns; ++j) {
                double sum = 0, size = 0;
                for (i64 k = 0; k < steps; ++k) {
                    const double product = double(a[std::size_t(i * steps + k)]) *
                                           double(b[std::size_t(k * columns + j)]);
                    sum += product;
                    size += std::fabs(product);
                }
                if (!(std::fabs(sum - double(y[std::size_t(i * columns + j)])) <= 1e-6 * size))
                    return false;
            }
        return true;
    }
};

bool is_wrong(const Product& product) {
    const auto say = [&](const char* what, Rows rows, Columns columns) {
        std::printf("%s: %d rows, %d steps, %d columns, which lie as %d and %d\n", what,
                    int(product.rows), int(product.steps), int(product.columns), int(rows),
                    int(columns));
        return true;
    };
    const std::vector<float> first =
        product.result(0, product.rows, Rows::along_halves, Columns::apart);
    for (const Rows rows :
         {Rows::along_halves, Rows::along_floats, Rows::apart_halves, Rows::apart_floats})
        for (const Columns columns : {Columns::apart, Columns::along, Columns::panels}) {
            const std::vector<float> y = product.result(0, product.rows, rows, columns);
            if (!product.is_near(y)) return say("off", rows, columns);
            const auto size = std::size_t(product.columns);
            if (kHasMatrixTiles && std::memcmp(y.data(), first.data(), y.size() * 4) != 0)
                return say("other bits", rows, columns);
            const i64 row = i64(draw() % std::uint32_t(product.rows));
            const std::vector<float> alone = product.result(row, 1, rows, columns);
            if (std::memcmp(alone.data(), y.data() + std::size_t(row) * size, size * 4) != 0)
                return say("alone it is another", rows, columns);
        }
    return false;
}

}  // namespace

int main(int, char** arguments) {
    draw.seed(unsigned(std::atoi(arguments[1])));
    if (kHasMatrixTiles && !fovea::runtime::may_use_tiles()) return 1;
    const auto size = [](std::uint32_t most) { return i64(1 + draw() % most); };
    for (int i = 0; i < 40; ++i)
        if (is_wrong({size(i % 4 ? 40 : 300), size(i % 3 ? 70 : 300), size(i % 5 ? 50 : 200)}))
            return 1;
    return 0;
}
