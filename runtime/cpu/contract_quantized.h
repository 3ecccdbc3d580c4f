// Contractions y[i, j] = sum over k of a[i, k] * b[j, k], where b is a weight of whole numbers with
// scales: they become floats in registers, or pairs of bfloat16 for rows of these, and of each
// group the sum is multiplied with its scale.
//
// Few rows read the numbers for each row, so that as many bytes come from memory as they take. For
// more rows, the numbers of a panel are expanded once. Every element adds the same numbers in the
// same order either way.
#pragma once

#include <utility>

#include "quantized_rows.h"

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
    constexpr i64 kWords = WeightLayout{{Bits, Group}, 0, 0}.words_of_pair();
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

/// The numbers of a panel as floats [steps, 16], or as pairs [pairs of steps, 16, 2].
template <int Bits, int Group, class Value>
inline void expand_panel(Value* to, const std::uint32_t* panel, const WeightLayout& layout) {
    constexpr i64 kTogether = Numbers<Bits>::kTogether;
    const typename Numbers<Bits>::Tables tables;
    for (i64 pair = 0; pair < layout.pairs(); ++pair) {
        panel += kLanes;
        for (i64 k = 0; k < Group; k += kTogether)
            for (i64 half = 0; half < 2; ++half, panel += kLanes) {
                fetch_numbers(panel);
                Value* const line = to + ((2 * pair + half) * Group + k) * kLanes;
                const Numbers<Bits> numbers(panel, tables);
                const auto copy = [&]<int... Step>(
                                      std::integer_sequence<int, Step...>) FOVEA_LAMBDA {
                    if constexpr (std::is_same_v<Value, float>)
                        (store(line + Step * kLanes, numbers.template at<Step>()), ...);
                    else (store_as(line + 2 * Step * kLanes, numbers.template pair<Step>()), ...);
                };
                constexpr int kSteps = int(kTogether);
                copy(std::make_integer_sequence<int, std::is_same_v<Value, float> ? kSteps
                                                                                  : kSteps / 2>{});
            }
    }
}

/// The sums of a tile of rows, `row` apart, with such a panel `b`; scales are those of the numbers.
template <int Bits, int Group, int Rows, class Value>
FOVEA_SHARED __attribute__((noinline)) void product_of_rows(floats* totals, QuantizedRow<Value> a,
                                                            i64 row, const Value* b,
                                                            const std::uint32_t* panel,
                                                            const WeightLayout& layout) {
    FOVEA_UNROLL for (int r = 0; r < Rows; ++r) totals[r] = floats{};
    const auto add_group = [&](i64 group, floats scale) FOVEA_LAMBDA {
        floats c[Rows][1];
        const Value *const rows = a.values + group * Group, *const numbers =
                                                                b + group * Group * kLanes;
        if constexpr (std::is_same_v<Value, bf16>) {
            FOVEA_UNROLL for (int r = 0; r < Rows; ++r) c[r][0] = floats{};
            add_pairs<kLanes>(c, PairRows{rows, row, fixed<2>, 0}, numbers,
                              PairSteps{Group / 2, false});
        } else {
            FOVEA_UNROLL for (int r = 0; r < Rows; ++r) c[r][0] =
                start_of<Bits>(QuantizedRow<float>{nullptr, a.starts + r * row}, group);
            if constexpr (kHasLongTiles && Rows == kLongTileRows)
                long_tile<SumsBegin::in_memory>(c, rows, row, numbers, Group,
                                                {numbers + Group * kLanes, kLanes});
            else
                add_products(c, rows, row, numbers, NoLines{},
                             Sum{fixed<Group>, fixed<1>, fixed<kLanes>});
        }
        FOVEA_UNROLL for (int r = 0; r < Rows; ++r) totals[r] =
            multiply_add(scale, c[r][0], totals[r]);
    };
    for (i64 pair = 0; pair < layout.pairs(); ++pair, panel += layout.words_of_pair()) {
        const Scales scales(panel);
        add_group(2 * pair, scales.first);
        add_group(2 * pair + 1, scales.second);
    }
}

/// All rows of a panel, in tiles of Rows, then of fewer.
template <int Bits, int Group, int Rows, class ARows, class Finish>
FOVEA_INLINE void finish_rows(const Panel& panel, i64 row, i64 rows, const Lanes& lanes,
                              const ARows& a, const std::uint32_t* b, const Finish& finish) {
    const i64 end = row + rows;
    for (; row + Rows <= end; row += Rows) {
        floats totals[Rows][1];
        product_of_rows<Bits, Group, Rows, typename ARows::Value>(
            &totals[0][0], a.row(row), a.length(), a.of_panel, b, a.layout());
        finish_tile(row, panel.column, {lanes}, totals, finish);
    }
    if constexpr (Rows > 1)
        if (row < end)
            finish_rows<Bits, Group, next_fewer(Rows)>(panel, row, end - row, lanes, a, b, finish);
}

#if defined(__AMX_BF16__)

/// The sums of `rows` rows with such a panel by tiles, whose shapes are set: Whole where they are
/// kMatrixRows. Those of a pair of groups are multiplied with their scales while the next ones are
/// on their way.
template <int Group, bool Whole>
FOVEA_SHARED __attribute__((noinline)) void matrix_product_of_rows(floats* totals, i64 rows,
                                                                   const bf16* a, i64 row,
                                                                   const bf16* b,
                                                                   const std::uint32_t* panel,
                                                                   const WeightLayout& layout) {
    constexpr i64 kTile = kMatrixRows * kLanes, kBytes = sizeof(bf16);
    alignas(64) float sums[2][2 * kTile];
    asm volatile("" : : : "memory");  // g++ 12's loads of tiles do not say that they read memory
    const auto multiply = [&](i64 pair) FOVEA_LAMBDA {
        _tile_zero(0);
        _tile_zero(1);
        for (i64 k = 2 * pair * Group; k < (2 * pair + 1) * Group; k += kMatrixSteps) {
            _tile_loadd(6, b + k * kLanes, 2 * kLanes * kBytes);
            _tile_loadd(4, a + k, row * kBytes);
            _tile_dpbf16ps(0, 4, 6);
            _tile_loadd(7, b + (k + Group) * kLanes, 2 * kLanes * kBytes);
            _tile_loadd(4, a + k + Group, row * kBytes);
            _tile_dpbf16ps(1, 4, 7);
        }
        _tile_stored(0, sums[pair % 2], kLanes * i64(sizeof(float)));
        _tile_stored(1, sums[pair % 2] + kTile, kLanes * i64(sizeof(float)));
    };
    floats c[kMatrixRows];
    FOVEA_UNROLL for (floats& total : c) total = floats{};
    const auto add = [&](i64 pair) FOVEA_LAMBDA {
        const Scales scales(panel + pair * layout.words_of_pair());
        const float* const of_pair = sums[pair % 2];
        const auto add_row = [&](i64 r) FOVEA_LAMBDA {
            c[r] = multiply_add(scales.first, load(of_pair + r * kLanes), c[r]);
            c[r] = multiply_add(scales.second, load(of_pair + kTile + r * kLanes), c[r]);
        };
        if constexpr (Whole) {
            FOVEA_UNROLL for (i64 r = 0; r < kMatrixRows; ++r) add_row(r);
        } else {
#pragma GCC unroll 1
            for (i64 r = 0; r < rows; ++r) add_row(r);
        }
    };
    multiply(0);
    for (i64 pair = 1; pair < layout.pairs(); ++pair) {
        multiply(pair);
        add(pair - 1);
    }
    add(layout.pairs() - 1);
    FOVEA_UNROLL for (i64 r = 0; r < kMatrixRows; ++r) totals[r] = c[r];
}

/// All rows of a panel, by tiles.
template <int Group, class ARows, class Finish>
FOVEA_INLINE void finish_rows_by_tiles(const Panel& panel, const Lanes& lanes, const ARows& a,
                                       const std::uint32_t* b, const Finish& finish) {
    const i64 end = panel.row + panel.rows;
#pragma GCC unroll 1
    for (i64 row = panel.row; row < end; row += kMatrixRows) {
        const i64 rows = end - row < kMatrixRows ? end - row : kMatrixRows;
        floats totals[kMatrixRows];
        take_matrix_rows(rows);
        const auto multiply = rows == kMatrixRows ? matrix_product_of_rows<Group, true>
                                                  : matrix_product_of_rows<Group, false>;
        multiply(totals, rows, a.row(row).values, a.length(), a.of_panel, b, a.layout());
#pragma GCC unroll 1
        for (i64 r = 0; r < rows; ++r) finish(row + r, panel.column, lanes, totals[r]);
    }
}

#endif

/// One panel of such a contraction: its 16 columns are rows `panel.column` and on of the weight.
/// `a` has taken the panel, or the one that this is some rows of.
template <int Rows, int Bits, int Group, i64 Depth, class ARows, class Finish>
FOVEA_INLINE void contract_quantized(const Panel& panel, const ARows& a,
                                     Weights<Bits, Group, Depth> b, const Finish& finish) {
    const Lanes lanes[1] = {lanes_at(0, panel.columns)};
    const std::uint32_t* numbers = b.words + panel.column / kLanes * a.layout().words_of_panel();
    if (!a.are_few()) {
        expand_panel<Bits, Group>(a.of_panel, numbers, a.layout());
#if defined(__AMX_BF16__)
        if constexpr (ARows::kByTiles)
            return finish_rows_by_tiles<Group>(panel, lanes[0], a, numbers, finish);
#endif
        return finish_rows<Bits, Group, tile_rows(Rows)>(panel, panel.row, panel.rows, lanes[0], a,
                                                         numbers, finish);
    }
    for (i64 row = panel.row; row < panel.row + panel.rows; ++row) {
        const auto few = a.few_row(row);
        floats total[1][1];
        if constexpr (ARows::kByTiles)
            total[0][0] = product_as_by_tiles<Bits, Group>(few.values, numbers, a.layout());
        else total[0][0] = product_of_row<Bits, Group>(few, numbers, a.layout());
        finish_tile(row, panel.column, lanes, total, finish);
    }
}

}  // namespace fovea::cpu::inline FOVEA_ISA
