// Sums of many rows with a panel of a weight of whole numbers, which are expanded once for them.
#pragma once

#include "row_products.h"

namespace fovea::cpu::inline FOVEA_ISA {

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
            [[maybe_unused]] NoLines nothing;
            if constexpr (kHasLongTiles && Rows == kLongTileRows)
                long_tile<SumsBegin::in_memory>(c, rows, row, numbers, Group,
                                                {numbers + Group * kLanes, kLanes});
            else
                add_products(c, rows, row, numbers, nothing,
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

}  // namespace fovea::cpu::inline FOVEA_ISA
