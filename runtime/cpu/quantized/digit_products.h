// Sums of rows of digits (digits.h) with a panel of a weight of whole numbers: whole for each place
// and group, then floats.
#pragma once

#include "panel_products.h"

#if defined(__AVX512VNNI__)

namespace fovea::cpu::inline FOVEA_ISA {

/// Those of a group, one for each place, as floats.
template <int Count>
FOVEA_INLINE floats value_of(const ints (&sums)[Count], float unit) {
    floats value = convert<floats>(sums[Count - 1]);
    FOVEA_UNROLL for (int place = Count - 2; place >= 0; --place) value =
        multiply_add(value, splat(256.F), convert<floats>(sums[place]));
    return value * splat(unit);
}

template <int Count>
FOVEA_INLINE void begin_sums(ints (&sums)[Count], const GroupOfDigits& group) {
    FOVEA_UNROLL for (int place = 0; place < Count; ++place) sums[place] =
        splat(group.starts[place]);
}

/// Adds the products of four steps.
template <int Count>
FOVEA_INLINE void add_quad(ints (&sums)[Count], words numbers, const Digits<Count>* digits) {
    FOVEA_UNROLL for (int place = 0; place < Count; ++place) sums[place] =
        add_products_of_bytes(numbers, splat_as<words>(digits[place].bytes), sums[place]);
}

/// Calls take(quad, numbers) for each four steps of a line.
template <int Bits, class Take>
FOVEA_INLINE void for_quads(const std::uint32_t* line, Take take) {
    const NumberBytes<Bits> numbers(line);
    const auto take_all = [&]<int... Quad>(std::integer_sequence<int, Quad...>)
                              FOVEA_LAMBDA { (take(Quad, numbers.template quad<Quad>()), ...); };
    take_all(std::make_integer_sequence<int, NumberBytes<Bits>::kQuads>{});
}

/// The sums of one row with a panel of 16 rows of the weight.
template <int Bits, int Group, int Count>
FOVEA_INLINE floats product_of_row(QuantizedRow<Digits<Count>> a, const std::uint32_t* panel,
                                   const WeightLayout& layout) {
    constexpr i64 kTogether = Numbers<Bits>::kTogether;
    floats total{};
    for (i64 pair = 0; pair < layout.pairs(); ++pair, a = a.from_group(2, Group)) {
        fetch_numbers(panel);
        const Scales scales(panel);
        panel += kLanes;
        ints sums[2][Count];
        FOVEA_UNROLL for (i64 half = 0; half < 2; ++half) begin_sums(sums[half], a.starts[half]);
#pragma GCC unroll 4
        for (i64 k = 0; k < Group; k += kTogether)
            FOVEA_UNROLL for (i64 half = 0; half < 2; ++half, panel += kLanes) {
                fetch_numbers(panel);
                const Digits<Count>* const digits = a.values + half * Group + k;
                for_quads<Bits>(panel, [&](int quad, words numbers) FOVEA_LAMBDA {
                    add_quad(sums[half], numbers, digits + 4 * quad);
                });
            }
        total = multiply_add(scales.first, value_of(sums[0], a.starts[0].unit), total);
        total = multiply_add(scales.second, value_of(sums[1], a.starts[1].unit), total);
    }
    return total;
}

/// The numbers of a panel as bytes without a sign, [quads of steps, 16, 4].
template <int Bits, int Group>
inline void expand_panel(std::uint32_t* to, const std::uint32_t* panel,
                         const WeightLayout& layout) {
    constexpr i64 kTogether = Numbers<Bits>::kTogether;
    for (i64 pair = 0; pair < layout.pairs(); ++pair) {
        panel += kLanes;
        for (i64 k = 0; k < Group; k += kTogether)
            for (i64 half = 0; half < 2; ++half, panel += kLanes) {
                fetch_numbers(panel);
                std::uint32_t* const line = to + ((2 * pair + half) * Group + k) / 4 * kLanes;
                for_quads<Bits>(panel, [&](int quad, words numbers) FOVEA_LAMBDA {
                    store_as(line + quad * kLanes, numbers);
                });
            }
    }
}

/// The sums of a tile of rows, `row` apart, with such a panel `b`; scales are those of the numbers.
template <int Bits, int Group, int Rows, int Count>
FOVEA_SHARED __attribute__((noinline)) void product_of_rows(floats* totals,
                                                            QuantizedRow<Digits<Count>> a, i64 row,
                                                            const std::uint32_t* b,
                                                            const std::uint32_t* panel,
                                                            const WeightLayout& layout) {
    constexpr i64 kValuesOfStart = sizeof(GroupOfDigits) / sizeof(Digits<Count>);
    FOVEA_UNROLL for (int r = 0; r < Rows; ++r) totals[r] = floats{};
    const auto add_group = [&](floats scale) FOVEA_LAMBDA {
        ints sums[Rows][Count];
        FOVEA_UNROLL for (int r = 0; r < Rows; ++r)
            begin_sums(sums[r], a.starts[r * (row / kValuesOfStart)]);
#pragma GCC unroll 4
        for (i64 k = 0; k < Group; k += 4, b += kLanes) {
            const words numbers = load_as<words>(b);
            FOVEA_UNROLL for (int r = 0; r < Rows; ++r)
                add_quad(sums[r], numbers, a.values + r * row + k);
        }
        FOVEA_UNROLL for (int r = 0; r < Rows; ++r) totals[r] = multiply_add(
            scale, value_of(sums[r], a.starts[r * (row / kValuesOfStart)].unit), totals[r]);
        a = a.from_group(1, Group);
    };
    for (i64 pair = 0; pair < layout.pairs(); ++pair, panel += layout.words_of_pair()) {
        const Scales scales(panel);
        add_group(scales.first);
        add_group(scales.second);
    }
}

}  // namespace fovea::cpu::inline FOVEA_ISA

#endif
