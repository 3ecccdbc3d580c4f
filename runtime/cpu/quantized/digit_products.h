// Sums of rows of digits (digits.h) with a panel of a weight of whole numbers: whole for each place
// and group, then floats.
#pragma once

#include "panel_products.h"

namespace fovea::cpu::inline FOVEA_ISA {

/// For each lane `sum` and the products of a part of the numbers with digits of the same steps.
#if defined(__AVX512VNNI__)
template <int Places>
FOVEA_INLINE ints add_products(words part, ByteDigits<Places> digits, ints sum) {
    return add_products_of_bytes(part, splat_as<words>(digits.bits), sum);
}
#endif
#if defined(__SSE2__)
FOVEA_INLINE ints add_products(words part, WordDigits digits, ints sum) {
    return ints(words(sum) + products_of_words(part, splat_as<words>(digits.bits)));
}
#endif

/// The sums of some steps of a group, one for each place.
template <class D>
struct DigitSums {
    static constexpr int kPlaces = D::kPlaces;
    ints of[kPlaces];

    explicit FOVEA_INLINE DigitSums(const GroupOfDigits& group) {
        FOVEA_UNROLL for (int place = 0; place < kPlaces; ++place) of[place] =
            splat(group.starts[place]);
    }
    FOVEA_INLINE void add(words part, const D* digits) {
        FOVEA_UNROLL for (int place = 0; place < kPlaces; ++place) of[place] =
            add_products(part, digits[place], of[place]);
    }
    FOVEA_INLINE floats value(float unit) const {
        floats result = convert<floats>(of[kPlaces - 1]);
        FOVEA_UNROLL for (int place = kPlaces - 2; place >= 0; --place) result =
            multiply_add(result, splat(256.F), convert<floats>(of[place]));
        return result * splat(unit);
    }
};

/// Calls take(number of the part, the part) for the parts of a line.
template <class D, int Bits, class Take>
FOVEA_INLINE void for_parts(const std::uint32_t* line, Take take) {
    using Numbers = typename D::template NumbersOf<Bits>;
    const Numbers numbers(line);
    const auto take_all = [&]<int... Part>(std::integer_sequence<int, Part...>)
                              FOVEA_LAMBDA { (take(Part, numbers.template part<Part>()), ...); };
    take_all(std::make_integer_sequence<int, Numbers::kParts>{});
}

/// The sums of one row with a panel of 16 rows of the weight.
template <int Bits, int Group, class D>
    requires kIsDigits<D>
FOVEA_INLINE floats product_of_row(QuantizedRow<D> a, const std::uint32_t* panel,
                                   const WeightLayout& layout) {
    constexpr i64 kTogether = Numbers<Bits>::kTogether;
    floats total{};
    for (i64 pair = 0; pair < layout.pairs(); ++pair, a = a.from_group(2, Group)) {
        fetch_numbers(panel);
        const Scales scales(panel);
        panel += kLanes;
        DigitSums<D> sums[2] = {DigitSums<D>(a.starts[0]), DigitSums<D>(a.starts[1])};
#pragma GCC unroll 4
        for (i64 k = 0; k < Group; k += kTogether)
            FOVEA_UNROLL for (i64 half = 0; half < 2; ++half, panel += kLanes) {
                fetch_numbers(panel);
                const D* const digits = a.values + values_of<D>(half * Group + k);
                for_parts<D, Bits>(panel, [&](int number, words part) FOVEA_LAMBDA {
                    sums[half].add(part, digits + number * D::kWords);
                });
            }
        total = multiply_add(scales.first, sums[0].value(a.starts[0].unit), total);
        total = multiply_add(scales.second, sums[1].value(a.starts[1].unit), total);
    }
    return total;
}

/// The parts of a panel's numbers, [parts of steps, 16].
template <class D, int Bits, int Group>
inline void expand_parts(std::uint32_t* to, const std::uint32_t* panel,
                         const WeightLayout& layout) {
    constexpr i64 kTogether = Numbers<Bits>::kTogether;
    for (i64 pair = 0; pair < layout.pairs(); ++pair) {
        panel += kLanes;
        for (i64 k = 0; k < Group; k += kTogether)
            for (i64 half = 0; half < 2; ++half, panel += kLanes) {
                fetch_numbers(panel);
                std::uint32_t* const line =
                    to + ((2 * pair + half) * Group + k) / D::kSteps * kLanes;
                for_parts<D, Bits>(panel, [&](int number, words part) FOVEA_LAMBDA {
                    store_as(line + number * kLanes, part);
                });
            }
    }
}

/// The sums of a tile of rows, `row` apart, with such a panel `b`; scales are those of the numbers.
template <int Bits, int Group, int Rows, class D>
    requires kIsDigits<D>
FOVEA_SHARED __attribute__((noinline)) void product_of_rows(floats* totals, QuantizedRow<D> a,
                                                            i64 row, const std::uint32_t* b,
                                                            const std::uint32_t* panel,
                                                            const WeightLayout& layout) {
    constexpr i64 kValuesOfStart = sizeof(GroupOfDigits) / sizeof(D);
    FOVEA_UNROLL for (int r = 0; r < Rows; ++r) totals[r] = floats{};
    const auto start = [&](int r) FOVEA_LAMBDA -> const GroupOfDigits& {
        return a.starts[r * (row / kValuesOfStart)];
    };
    const auto add_group = [&](floats scale) FOVEA_LAMBDA {
        const auto add_rows = [&]<int... R>(std::integer_sequence<int, R...>) FOVEA_LAMBDA {
            DigitSums<D> sums[Rows] = {DigitSums<D>(start(R))...};
#pragma GCC unroll 4
            for (i64 k = 0; k < Group; k += D::kSteps, b += kLanes) {
                const auto part = load_as<words>(b);
                (sums[R].add(part, a.values + R * row + values_of<D>(k)), ...);
            }
            ((totals[R] = multiply_add(scale, sums[R].value(start(R).unit), totals[R])), ...);
        };
        add_rows(std::make_integer_sequence<int, Rows>{});
        a = a.from_group(1, Group);
    };
    for (i64 pair = 0; pair < layout.pairs(); ++pair, panel += layout.words_of_pair()) {
        const Scales scales(panel);
        add_group(scales.first);
        add_group(scales.second);
    }
}

}  // namespace fovea::cpu::inline FOVEA_ISA
