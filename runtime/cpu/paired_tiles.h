// Operands of sums in tiles of kernels in bfloat16: two steps of a sum lie side by side, which
// machines with AVX512_BF16 multiply at once. On others they are floats, a step at a time.
#pragma once

#include "pack_pairs.h"
#include "seen_blocks.h"

namespace fovea::cpu::inline FOVEA_ISA {

#ifdef FOVEA_MULTIPLIES_PAIRS
using paired = bf16;
inline constexpr i64 kTogether = 2;
#else
using paired = float;
inline constexpr i64 kTogether = 1;
#endif

/// How many pairs so many steps are; the last one of an odd number has 0 in it.
FOVEA_INLINE i64 in_pairs(i64 steps) { return (steps + kTogether - 1) / kTogether; }
template <i64 Steps>
FOVEA_INLINE Fixed<(Steps + kTogether - 1) / kTogether> in_pairs(Fixed<Steps>) {
    return {};
}
/// The same of parts, whose steps are whole blocks or end with the tile.
template <i64 Most>
FOVEA_INLINE Parts<Most> in_pairs(Parts<Most> parts) {
    for (i64 i = 0; i < parts.count; ++i) {
        parts.part[i].step /= kTogether;
        parts.part[i].step_end = in_pairs(parts.part[i].step_end);
    }
    return parts;
}

/// An operand [step, x]: in pairs [pair, x, 2], `width` pairs from one to the next.
struct RowsInPairs {
    const paired* data;
    i64 width;
    FOVEA_INLINE const paired* at(i64 x, i64 pair) const {
        return data + (pair * width + x) * kTogether;
    }
};
/// An operand [x, step], whose pairs are neighbours already; `stride` elements between rows.
struct StepsInPairs {
    const paired* data;
    i64 stride;
    FOVEA_INLINE const paired* at(i64 x, i64 pair) const {
        return data + x * stride + pair * kTogether;
    }
};

/// Rows of a tile, `stride` elements apart, in pairs. `to` has room for the tile, its rows `width`
/// apart and even in number.
template <class T>
FOVEA_INLINE RowsInPairs cut_rows_in_pairs(paired* to, i64 width, const T* from, i64 stride,
                                           i64 rows, i64 columns) {
#ifdef FOVEA_MULTIPLIES_PAIRS
    for (i64 row = 0; row < rows; row += 2)
        for (i64 x = 0; x < columns; x += kLanes) {
            const T* const first = from + row * stride + x;
            store_as(to + row * width + 2 * x,
                     pairs_of(first, row + 1 < rows ? first + stride : nullptr, fixed<1>,
                              lanes_at(x, columns)));
        }
#else
    copy_tile(to, width, from, stride, rows, columns);
#endif
    return {to, width};
}
/// The same of rows that have room for whole vectors: `to` may be left as it is.
template <class T>
FOVEA_INLINE RowsInPairs rows_in_pairs(paired* to, i64 width, const T* from, i64 stride, i64 rows,
                                       i64 columns) {
    if constexpr (std::is_same_v<T, float> && kTogether == 1) return {from, stride};
    else return cut_rows_in_pairs(to, width, from, stride, rows, columns);
}

/// The same where steps lie along the rows.
template <class T, class Columns>
FOVEA_INLINE StepsInPairs steps_in_pairs(paired* to, i64 width, const T* from, i64 stride, i64 rows,
                                         Columns columns) {
    constexpr bool kWhole = kKnown<Columns> > 0 && kKnown<Columns> % kTogether == 0;
    if constexpr (std::is_same_v<T, paired> && (kWhole || kTogether == 1)) return {from, stride};
    else {
        copy_tile(to, width, from, stride, rows, columns);
        return {to, width};
    }
}

/// `Products` of such operands: left(row, pair) and right(lane, pair) are where they lie.
template <class Left, class Right>
struct PairProducts {
    Left left;
    Right right;

    template <int Rows, int Vectors>
    FOVEA_INLINE void add(floats (&sums)[Rows][Vectors], i64 row, i64 lane, i64 pair) const {
#ifdef FOVEA_MULTIPLIES_PAIRS
        Pairs rights[Vectors];
        FOVEA_UNROLL for (int v = 0; v < Vectors; ++v) {
            rights[v] = load_pairs(right(lane + kLanes * v, pair));
            if constexpr (!kIsTwice<Pairs>) asm("" : "+v"(rights[v]));  // as in Products
        }
        FOVEA_UNROLL for (int i = 0; i < Rows; ++i) {
            const Pairs factor = splat_pair(left(row + i, pair));
            FOVEA_UNROLL for (int v = 0; v < Vectors; ++v) sums[i][v] =
                add_products(factor, rights[v], sums[i][v]);
        }
#else
        const auto number = [&](i64 i, i64 step) FOVEA_LAMBDA { return *left(i, step); };
        const auto vector = [&](i64 j, i64 step) FOVEA_LAMBDA { return load(right(j, step)); };
        products(number, vector).add(sums, row, lane, pair);
#endif
    }
};
template <class Left, class Right>
FOVEA_INLINE PairProducts<Left, Right> pair_products(const Left& left, const Right& right) {
    return {left, right};
}
template <class Left, class Right>
inline constexpr bool kIsProducts<PairProducts<Left, Right>> = true;

}  // namespace fovea::cpu::inline FOVEA_ISA
