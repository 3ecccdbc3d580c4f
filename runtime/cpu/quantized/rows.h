// The rows that products with weights of whole numbers multiply, packed as these read them.
#pragma once

#include "../contract_bfloat16.h"
#include "digits.h"

namespace fovea::cpu::inline FOVEA_ISA {

/// One such row. `starts`: for each group what its sum begins with.
template <class Value>
struct QuantizedRow {
    using Start = std::conditional_t<kIsDigits<Value>, GroupOfDigits, float>;

    const Value* values;
    const Start* starts;

    FOVEA_INLINE QuantizedRow from_group(i64 group, i64 size) const {
        return {values + values_of<Value>(group * size), starts + group};
    }
};

/// Rows of a, [row, step] with zeros up to the end of the last pair of groups, packed for the rows
/// of a block at its first panel. They are bfloat16 where they lie as such and tiles, or an
/// instruction that multiplies pairs, take them: steps that numbers have as a pair are neighbours.
/// Else they are digits where an instruction multiplies bytes, three of each float and two of each
/// half; where one multiplies 16 bits, halves are multiples of these, as long as the sum of a group
/// has 32. Elsewhere they are floats, times the factors of their steps. What the sums of groups
/// begin with lies behind each row.
template <int Bits, int Group, class T, class Stride, class Step>
class QuantizedRows {
  public:
    /// Whether tiles multiply them: a group is as many steps as they take at a time, or several.
    static constexpr bool kByTiles =
        std::is_same_v<T, bf16> && kHasMatrixTiles && Group % kMatrixSteps == 0;
    static constexpr bool kInWords =
        kMultipliesWords && sizeof(T) == 2 && !kMultipliesPairs && (Bits == 4 || Group <= 512);
    static constexpr bool kInDigits = (kMultipliesBytes || kInWords) && !kByTiles;
    static constexpr bool kInPairs = kMultipliesPairs && std::is_same_v<T, bf16> && !kInDigits;
    using Multiples =
        std::conditional_t<kMultipliesBytes, ByteDigits<sizeof(T) == 2 ? 2 : 3>, WordDigits>;
    using Value =
        std::conditional_t<kInDigits, Multiples, std::conditional_t<kInPairs, bf16, float>>;
    /// What an expanded panel has.
    using Number = std::conditional_t<kInDigits, std::uint32_t, Value>;
    /// Of the rows that read the numbers of a panel as they lie: for more these are expanded first.
    /// Numbers that become pairs cost more than their products, so that a second row takes them
    /// from memory. Few rows that tiles would multiply are floats, from which the same sums come.
    using Few = std::conditional_t<kByTiles, float, Value>;
    static constexpr i64 kFewRows = std::is_same_v<Few, bf16> ? 1 : 3;

    QuantizedRows(const T* data, Stride stride, i64 depth, Step step)
        : data_(data), stride_(stride), step_(step), layout_{{Bits, Group}, 0, depth, Group} {}

    const WeightLayout& layout() const { return layout_; }
    /// Values from one packed row to the next.
    i64 length() const {
        constexpr i64 kOfGroup = kInPairs ? 0 : sizeof(typename QuantizedRow<Value>::Start) / 4;
        return of_steps() + whole_lanes(2 * layout_.pairs() * kOfGroup);
    }
    /// Whether the block has few rows.
    bool are_few() const { return are_few_; }
    i64 padded() const { return 2 * layout_.pairs() * Group; }
    /// Values of a row's steps.
    i64 of_steps() const { return values_of<Value>(padded()); }
    /// Packs the rows of a new block; those of a block before lie where they did, as long as no
    /// other memory is asked for. `of_panel` has room for an expanded panel.
    void take(const Panel& panel) {
        first_ = panel.block_row;
        const i64 rows = panel.block_rows;
        are_few_ = rows <= kFewRows;
        if (are_few_) return take_as(few_, 0, panel);
        take_as(packed_, ahead(), panel);
        of_panel = reinterpret_cast<Number*>(packed_ - ahead());
    }
    QuantizedRow<Value> row(i64 number) const { return row_of(packed_, number); }
    /// The same of few rows.
    QuantizedRow<Few> few_row(i64 number) const { return row_of(few_, number); }

    Number* of_panel = nullptr;

  private:
    /// Values that an expanded panel takes.
    i64 ahead() const {
        if constexpr (kInDigits) return padded() / Value::kSteps * kLanes;
        else return padded() * kLanes;
    }
    template <class Packed>
    QuantizedRow<Packed> row_of(const Packed* packed, i64 number) const {
        const Packed* const values = packed + (number - first_) * length();
        if constexpr (kInPairs) return {values, nullptr};
        else
            return {values, reinterpret_cast<const typename QuantizedRow<Packed>::Start*>(
                                values + of_steps())};
    }
    template <class Packed>
    void take_as(Packed*& packed, i64 ahead, const Panel& panel) {
        packed = reinterpret_cast<Packed*>(scratch((panel.block_rows * length() + ahead) *
                                                   i64(sizeof(Packed)) / i64(sizeof(float)))) +
                 ahead;
        if (!panel.fresh) return;
        for (i64 row = 0; row < panel.block_rows; ++row)
            pack(packed + row * length(), data_ + (first_ + row) * stride_);
    }

    FOVEA_INLINE floats factors(i64 step) const {
        floats result;
        FOVEA_UNROLL for (int i = 0; i < int(kLanes); ++i) result[i] =
            Numbers<Bits>::factor_of(step + i);
        return result;
    }
    FOVEA_INLINE floats values_at(const T* from, i64 k) const {
        if (k >= layout_.depth) return floats{};
        const Lanes lanes = lanes_at(k, layout_.depth);
        if constexpr (std::is_same_v<Step, Fixed<1>>) return load(from + k, lanes);
        else return load_strided(from + k * step_, step_, lanes);
    }
    template <class D>
        requires kIsDigits<D>
    void pack(D* to, const T* from) const {
        auto* const starts = reinterpret_cast<GroupOfDigits*>(to + of_steps());
        for (i64 group = 0; group < 2 * layout_.pairs(); ++group) {
            const i64 first = group * Group;
            starts[group] = pack_digits<Bits, Group>(
                to + values_of<D>(first),
                [&](i64 k) FOVEA_LAMBDA { return values_at(from, first + k); });
        }
    }
    void pack(float* to, const T* from) const {
        // The same for each 16 steps.
        const floats factor = kByTiles ? splat(1.F) : factors(0);
        float* const starts = to + padded();
        for (i64 group = 0; group < 2 * layout_.pairs(); ++group) {
            floats sum{};
            for (i64 k = group * Group; k < (group + 1) * Group; k += kLanes) {
                const floats value = values_at(from, k);
                store(to + k, value * factor);
                sum += value;
            }
            if constexpr (Numbers<Bits>::kOffset > 0 && !kByTiles)
                starts[group] = -float(Numbers<Bits>::kOffset) * sum_across(sum);
        }
    }
    void pack(bf16* to, const T* from) const {
        constexpr i64 kSome = 2 * kLanes;
        for (i64 k = 0; k < padded(); k += kSome) {
            const i64 left = layout_.depth - k, count = left < kSome ? left : kSome;
            if (count <= 0) {
                store_as(to + k, words{});
            } else if constexpr (std::is_same_v<Step, Fixed<1>>) {
                store_in_pairs(to + k, words_along(from + k, count));
            } else {
                bf16 some[kSome]{};
                for (i64 i = 0; i < count; ++i) some[i] = from[(k + i) * step_];
                store_in_pairs(to + k, load_as<words>(some));
            }
        }
    }
    /// 32 steps, those that are a pair beside each other.
    template <class Words>
    static FOVEA_INLINE void store_in_pairs(bf16* to, Words steps) {
        constexpr int kTogether = Numbers<Bits>::kTogether, kApart = Numbers<Bits>::kApart;
        if constexpr (kApart == 1) {
            store_as(to, steps);
        } else if constexpr (kIsTwice<Words>) {
            bf16 in_order[2 * kLanes];
            store_as(in_order, steps);
            for (int k = 0; k < int(2 * kLanes); k += kTogether)
                FOVEA_UNROLL for (int pair = 0; pair < kTogether / 2; ++pair) {
                    const int first = k + Numbers<Bits>::first_of(pair);
                    to[k + 2 * pair] = in_order[first];
                    to[k + 2 * pair + 1] = in_order[first + kApart];
                }
        } else {
            const auto in_order = Register<std::uint16_t, 32>(steps);
            store_as(to, __builtin_shufflevector(in_order, in_order, 0, 4, 1, 5, 2, 6, 3, 7, 8, 12,
                                                 9, 13, 10, 14, 11, 15, 16, 20, 17, 21, 18, 22, 19,
                                                 23, 24, 28, 25, 29, 26, 30, 27, 31));
        }
    }

    const T* data_;
    Stride stride_;
    Step step_;
    WeightLayout layout_;
    i64 first_ = 0;
    bool are_few_ = false;
    Value* packed_ = nullptr;
    Few* few_ = nullptr;
};

template <int Bits, int Group, class T, class Stride, class Step>
FOVEA_INLINE auto quantized_rows(const T* data, Stride stride, i64 depth, Step step) {
    return QuantizedRows<Bits, Group, T, Stride, Step>(data, stride, depth, step);
}

}  // namespace fovea::cpu::inline FOVEA_ISA
