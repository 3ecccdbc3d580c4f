// Contractions y[i, j] = sum over k of a[i, k] * b[j, k], where b is a weight of whole numbers with
// scales: they become floats in registers, and of each group the sum is multiplied with its scale.
//
// Few rows read the numbers for each row, so that as many bytes come from memory as they take. For
// more rows, the numbers of a panel are made floats once. Every element adds the same numbers in
// the same order either way.
#pragma once

#include <utility>

#include "contract.h"
#include "quantized.h"

namespace fovea::cpu::inline FOVEA_ISA {

/// Rows that read the numbers of a panel as they lie; of more they are made floats first.
inline constexpr i64 kFewRows = 3;

/// The rows of a, as products with such weights read them: floats, times the factors of their
/// steps, with zeros up to the end of the last pair of groups; then for each group what its sum
/// begins with. They are packed for the rows of a block at its first panel.
template <int Bits, int Group, class T, class Stride, class Step>
class QuantizedRows {
  public:
    QuantizedRows(const T* data, Stride stride, i64 depth, Step step)
        : data_(data), stride_(stride), step_(step), layout_{{Bits, Group}, 0, depth} {}

    const WeightLayout& layout() const { return layout_; }
    /// Floats from one packed row to the next.
    i64 length() const { return padded() + whole_lanes(2 * layout_.pairs()); }
    i64 padded() const { return 2 * layout_.pairs() * Group; }
    /// Packs the rows of a new block; those of a block before lie where they did, as long as no
    /// other memory is asked for. `of_panel` has room for a panel as floats.
    void take(const Panel& panel) {
        first_ = panel.block_row;
        const i64 rows = panel.block_rows;
        of_panel = scratch(rows * length() + (rows > kFewRows ? padded() * kLanes : 0));
        packed_ = of_panel + (rows > kFewRows ? padded() * kLanes : 0);
        if (!panel.fresh) return;
        for (i64 row = 0; row < rows; ++row)
            pack(packed_ + row * length(), data_ + (first_ + row) * stride_);
    }
    const float* row(i64 number) const { return packed_ + (number - first_) * length(); }
    const float* starts(const float* row) const { return row + padded(); }

    float* of_panel = nullptr;

  private:
    FOVEA_INLINE floats factors(i64 step) const {
        floats result;
        FOVEA_UNROLL for (int i = 0; i < int(kLanes); ++i) result[i] =
            Numbers<Bits>::factor_of(step + i);
        return result;
    }
    void pack(float* to, const T* from) const {
        const floats factor = factors(0);  // the same for each 16 steps
        float* const starts = to + padded();
        for (i64 group = 0; group < 2 * layout_.pairs(); ++group) {
            floats sum{};
            for (i64 k = group * Group; k < (group + 1) * Group; k += kLanes) {
                floats value{};
                if (k < layout_.depth) {
                    const Lanes lanes = lanes_at(k, layout_.depth);
                    if constexpr (std::is_same_v<Step, Fixed<1>>) value = load(from + k, lanes);
                    else value = load_strided(from + k * step_, step_, lanes);
                }
                store(to + k, value * factor);
                sum += value;
            }
            if constexpr (Numbers<Bits>::kOffset > 0)
                starts[group] = -float(Numbers<Bits>::kOffset) * sum_across(sum);
        }
    }

    const T* data_;
    Stride stride_;
    Step step_;
    WeightLayout layout_;
    i64 first_ = 0;
    float* packed_ = nullptr;
};

template <int Bits, int Group, class T, class Stride, class Step>
FOVEA_INLINE auto quantized_rows(const T* data, Stride stride, i64 depth, Step step) {
    return QuantizedRows<Bits, Group, T, Stride, Step>(data, stride, depth, step);
}

/// What the sum of a group begins with.
template <int Bits>
FOVEA_INLINE floats start_of(const float* starts, i64 group) {
    if constexpr (Numbers<Bits>::kOffset > 0) return splat(starts[group]);
    else return floats{};
}

/// Adds the products of the steps of a line of words with neighbours of `a` to `sum`.
template <int Bits>
FOVEA_INLINE void add_line(floats& sum, const float* a, Numbers<Bits> numbers) {
    const auto add = [&]<int... Step>(std::integer_sequence<int, Step...>) FOVEA_LAMBDA {
        ((sum = multiply_add(splat(a[Step]), numbers.template at<Step>(), sum)), ...);
    };
    add(std::make_integer_sequence<int, Numbers<Bits>::kTogether>{});
}

/// Fetches the line of words that is read some lines later, to the second cache: the first has no
/// room for so many, and fewer are not there in time.
FOVEA_INLINE void fetch_numbers(const std::uint32_t* line) {
    constexpr i64 kAhead = 128;
    __builtin_prefetch(line + kAhead * kLanes, 0, 2);
}

/// Adds the products of some neighbouring pairs of groups, whose sums are all on their way at a
/// time, to `total`.
template <int Bits, int Group, i64 Pairs>
FOVEA_INLINE void add_pairs_of_groups(floats& total, const float* a, const float* starts,
                                      const std::uint32_t* words) {
    constexpr i64 kTogether = Numbers<Bits>::kTogether;
    constexpr i64 kWords = WeightLayout{{Bits, Group}, 0, 0}.words_of_pair();
    floats sums[2 * Pairs];
    FOVEA_UNROLL for (i64 group = 0; group < 2 * Pairs; ++group) sums[group] =
        start_of<Bits>(starts, group);
    for (i64 k = 0; k < Group; k += kTogether)
        FOVEA_UNROLL for (i64 group = 0; group < 2 * Pairs; ++group) {
            const std::uint32_t* const line =
                words + group / 2 * kWords + (1 + 2 * (k / kTogether) + group % 2) * kLanes;
            fetch_numbers(line);
            add_line<Bits>(sums[group], a + group * Group + k, Numbers<Bits>(line));
        }
    FOVEA_UNROLL for (i64 pair = 0; pair < Pairs; ++pair) {
        fetch_numbers(words + pair * kWords);
        const Scales scales(words + pair * kWords);
        total = multiply_add(scales.first, sums[2 * pair], total);
        total = multiply_add(scales.second, sums[2 * pair + 1], total);
    }
}

/// The sums of one row with a panel of 16 rows of the weight.
template <int Bits, int Group>
FOVEA_INLINE floats product_of_row(const float* a, const float* starts, const std::uint32_t* panel,
                                   const WeightLayout& layout) {
    floats total{};
    i64 pair = 0;
    const auto add = [&]<i64 Pairs>(Fixed<Pairs>) FOVEA_LAMBDA {
        for (; pair + Pairs <= layout.pairs(); pair += Pairs)
            add_pairs_of_groups<Bits, Group, Pairs>(total, a + 2 * pair * Group, starts + 2 * pair,
                                                    panel + pair * layout.words_of_pair());
    };
    add(fixed<2>);
    add(fixed<1>);
    return total;
}

/// The numbers of a panel as floats [steps, 16].
template <int Bits, int Group>
inline void expand_panel(float* to, const std::uint32_t* panel, const WeightLayout& layout) {
    constexpr i64 kTogether = Numbers<Bits>::kTogether;
    for (i64 pair = 0; pair < layout.pairs(); ++pair) {
        panel += kLanes;
        for (i64 k = 0; k < Group; k += kTogether)
            for (i64 half = 0; half < 2; ++half, panel += kLanes) {
                float* const line = to + ((2 * pair + half) * Group + k) * kLanes;
                const Numbers<Bits> numbers(panel);
                const auto copy =
                    [&]<int... Step>(std::integer_sequence<int, Step...>) FOVEA_LAMBDA {
                        (store(line + Step * kLanes, numbers.template at<Step>()), ...);
                    };
                copy(std::make_integer_sequence<int, int(kTogether)>{});
            }
    }
}

/// The sums of a tile of rows with such floats, `row` apart; scales are those of the panel.
template <int Bits, int Group, int Rows>
FOVEA_SHARED __attribute__((noinline)) void product_of_rows(floats* totals, const float* a, i64 row,
                                                            const float* starts, const float* b,
                                                            const std::uint32_t* panel,
                                                            const WeightLayout& layout) {
    FOVEA_UNROLL for (int r = 0; r < Rows; ++r) totals[r] = floats{};
    const auto add_group = [&](i64 group, floats scale) FOVEA_LAMBDA {
        floats c[Rows][1];
        FOVEA_UNROLL for (int r = 0; r < Rows; ++r) c[r][0] =
            start_of<Bits>(starts + r * row, group);
        const float *const rows = a + group * Group, *const numbers = b + group * Group * kLanes;
        if constexpr (kHasLongTiles && Rows == kLongTileRows)
            long_tile<SumsBegin::in_memory>(c, rows, row, numbers, Group,
                                            {numbers + Group * kLanes, kLanes});
        else
            add_products(c, rows, row, numbers, NoLines{},
                         Sum{fixed<Group>, fixed<1>, fixed<kLanes>});
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
        product_of_rows<Bits, Group, Rows>(&totals[0][0], a.row(row), a.length(),
                                           a.starts(a.row(row)), a.of_panel, b, a.layout());
        finish_tile(row, panel.column, {lanes}, totals, finish);
    }
    if constexpr (Rows > 1)
        if (row < end)
            finish_rows<Bits, Group, next_fewer(Rows)>(panel, row, end - row, lanes, a, b, finish);
}

/// One panel of such a contraction: its 16 columns are rows `panel.column` and on of the weight.
/// `a` has taken the panel, or the one that this is some rows of.
template <int Rows, int Bits, int Group, i64 Depth, class ARows, class Finish>
FOVEA_INLINE void contract_quantized(const Panel& panel, const ARows& a,
                                     Weights<Bits, Group, Depth> b, const Finish& finish) {
    const Lanes lanes[1] = {lanes_at(0, panel.columns)};
    const std::uint32_t* numbers = b.words + panel.column / kLanes * a.layout().words_of_panel();
    if (panel.rows > kFewRows) {
        expand_panel<Bits, Group>(a.of_panel, numbers, a.layout());
        return finish_rows<Bits, Group, tile_rows(Rows)>(panel, panel.row, panel.rows, lanes[0], a,
                                                         numbers, finish);
    }
    for (i64 row = panel.row; row < panel.row + panel.rows; ++row) {
        const floats total[1][1] = {
            {product_of_row<Bits, Group>(a.row(row), a.starts(a.row(row)), numbers, a.layout())}};
        finish_tile(row, panel.column, lanes, total, finish);
    }
}

}  // namespace fovea::cpu::inline FOVEA_ISA
