// Sums of one row with a panel of a weight of whole numbers, whose numbers are read as they lie.
#pragma once

#include <utility>

#include "rows.h"

namespace fovea::cpu::inline FOVEA_ISA {

/// What the sum of a group begins with.
template <int Bits, class Value>
FOVEA_INLINE floats start_of(QuantizedRow<Value> row, i64 group) {
    if constexpr (std::is_same_v<Value, float> && Numbers<Bits>::kOffset > 0)
        return splat(row.starts[group]);
    else return floats{};
}

/// Adds the products of the steps of a line of words with neighbours of `a` to `sum`.
template <int Bits, class Value>
FOVEA_INLINE void add_line(floats& sum, const Value* a, Numbers<Bits> numbers) {
    const auto add = [&]<int... Step>(std::integer_sequence<int, Step...>) FOVEA_LAMBDA {
        if constexpr (std::is_same_v<Value, float>)
            ((sum = multiply_add(splat(a[Step]), numbers.template at<Step>(), sum)), ...);
        else
            ((sum = add_products(splat_pair(a + 2 * Step), numbers.template pair<Step>(), sum)),
             ...);
    };
    constexpr int kLine = Numbers<Bits>::kTogether;
    add(std::make_integer_sequence<int, std::is_same_v<Value, float> ? kLine : kLine / 2>{});
}

/// Fetches the line of words that is read some lines later, to the second cache: the first has no
/// room for so many, and fewer are not there in time.
FOVEA_INLINE void fetch_numbers(const std::uint32_t* line) {
    constexpr i64 kAhead = 128;
    __builtin_prefetch(line + kAhead * kLanes, 0, 2);
}

/// Adds the products of some neighbouring pairs of groups, whose sums are all on their way at a
/// time, to `total`.
template <int Bits, int Group, i64 Pairs, class Value>
FOVEA_INLINE void add_pairs_of_groups(floats& total, QuantizedRow<Value> a,
                                      const std::uint32_t* numbers,
                                      typename Numbers<Bits>::Tables tables) {
    constexpr i64 kTogether = Numbers<Bits>::kTogether;
    constexpr i64 kWords = WeightLayout{{Bits, Group}, 0, 0, Group}.words_of_pair();
    floats sums[2 * Pairs];
    FOVEA_UNROLL for (i64 group = 0; group < 2 * Pairs; ++group) sums[group] =
        start_of<Bits>(a, group);
    for (i64 k = 0; k < Group; k += kTogether)
        FOVEA_UNROLL for (i64 group = 0; group < 2 * Pairs; ++group) {
            const std::uint32_t* const line =
                numbers + group / 2 * kWords + (1 + 2 * (k / kTogether) + group % 2) * kLanes;
            fetch_numbers(line);
            add_line<Bits>(sums[group], a.values + group * Group + k, Numbers<Bits>(line, tables));
        }
    FOVEA_UNROLL for (i64 pair = 0; pair < Pairs; ++pair) {
        fetch_numbers(numbers + pair * kWords);
        const Scales scales(numbers + pair * kWords);
        total = multiply_add(scales.first, sums[2 * pair], total);
        total = multiply_add(scales.second, sums[2 * pair + 1], total);
    }
}

/// The sums of one row with a panel of 16 rows of the weight.
template <int Bits, int Group, class Value>
FOVEA_INLINE floats product_of_row(QuantizedRow<Value> a, const std::uint32_t* panel,
                                   const WeightLayout& layout) {
    const typename Numbers<Bits>::Tables tables;
    floats total{};
    i64 pair = 0;
    const auto add = [&]<i64 Pairs>(Fixed<Pairs>) FOVEA_LAMBDA {
        for (; pair + Pairs <= layout.pairs(); pair += Pairs)
            add_pairs_of_groups<Bits, Group, Pairs>(total, a.from_group(2 * pair, Group),
                                                    panel + pair * layout.words_of_pair(), tables);
    };
    add(fixed<2>);
    add(fixed<1>);
    return total;
}

/// The same sums as tiles give: of each kMatrixSteps the first steps of pairs add up apart from the
/// second ones. (What is below 1.2e-38 is 0 to tiles alone.)
template <int Bits, int Group>
FOVEA_INLINE floats product_as_by_tiles(const float* a, const std::uint32_t* panel,
                                        const WeightLayout& layout) {
    constexpr i64 kTogether = Numbers<Bits>::kTogether;
    const typename Numbers<Bits>::Tables tables;
    floats total{};
    for (i64 pair = 0; pair < layout.pairs(); ++pair, a += 2 * Group) {
        fetch_numbers(panel);
        const Scales scales(panel);
        panel += kLanes;
        floats sums[2]{};
        for (i64 first = 0; first < Group; first += kMatrixSteps) {
            floats parts[2][2]{};  // of both groups
            FOVEA_UNROLL for (i64 k = first; k < first + kMatrixSteps; k += kTogether)
                FOVEA_UNROLL for (i64 half = 0; half < 2; ++half, panel += kLanes) {
                fetch_numbers(panel);
                const Numbers<Bits> numbers(panel, tables);
                const float* const steps = a + half * Group + k;
                const auto add = [&]<int... Step>(std::integer_sequence<int, Step...>)
                                     FOVEA_LAMBDA {
                                         constexpr int kApart = Numbers<Bits>::kApart;
                                         ((parts[half][Step / kApart % 2] = multiply_add(
                                               splat(steps[Step]), numbers.template number<Step>(),
                                               parts[half][Step / kApart % 2])),
                                          ...);
                                     };
                add(std::make_integer_sequence<int, int(kTogether)>{});
            }
            FOVEA_UNROLL for (int half = 0; half < 2; ++half) {
                const floats part = parts[half][0] + parts[half][1];
                sums[half] = first == 0 ? part : sums[half] + part;
            }
        }
        total = multiply_add(scales.first, sums[0], total);
        total = multiply_add(scales.second, sums[1], total);
    }
    return total;
}

}  // namespace fovea::cpu::inline FOVEA_ISA
