// Packing the operands of a contraction as pairs of bfloat16 along its contracted axes; floats are
// rounded on the way. An odd last step has 0 beside it.
#pragma once

#include "half_operands.h"
#include "pairs.h"

namespace fovea::cpu::inline FOVEA_ISA {

/// Calls `write` with the addresses of two steps at a time; null for the second of an odd last one.
template <class T, class Write, class First, class... Rest>
FOVEA_INLINE void for_each_pair(const T* at, const Write& write, First first, Rest... rest) {
    if constexpr (sizeof...(rest) == 0) {
        i64 k = 0;
        for (; k + 2 <= first.extent; k += 2, at += 2 * first.stride) write(at, at + first.stride);
        if (k < first.extent) write(at, static_cast<const T*>(nullptr));
    } else {
        const T* before = nullptr;
        const auto visit = [&](const T* step) FOVEA_LAMBDA {
            if (before) write(before, step);
            before = before ? nullptr : step;
        };
        for_each_step(at, visit, first, rest...);
        if (before) write(before, static_cast<const T*>(nullptr));
    }
}

/// 16 elements of two steps as pairs.
template <class T, class Stride>
FOVEA_INLINE words pairs_of(const T* first, const T* second, Stride stride, Lanes lanes) {
    const words low = half_words(first, stride, lanes);
    return second ? low | half_words(second, stride, lanes) << 16 : low;
}

template <class T>
FOVEA_INLINE words pairs_of(const T* first, const T* second, std::integral_constant<i64, 1>,
                            Lanes lanes) {
    if (!second) return half_words(first, lanes);
    if constexpr (std::is_same_v<T, float>)
        return narrow_pairs(load(first, lanes), load(second, lanes));
    else return half_words(first, lanes) | half_words(second, lanes) << 16;
}

/// Columns of b, whose steps are neighbours, to [pair, Width, 2], in squares of 16 x 16 pairs.
template <int Width, class T, class Stride>
inline void pack_columns_along(bf16* to, const T* b, Stride stride, i64 columns, i64 extent) {
    for (i64 k = 0; k < extent; k += 2 * kLanes, to += 2 * Width * kLanes) {
        const i64 count = extent - k;
        for (i64 j = 0; j < Width; j += kLanes) {
            words square[kLanes];
            FOVEA_UNROLL for (i64 i = 0; i < kLanes; ++i) square[i] =
                j + i < columns ? words_along(b + k + (j + i) * stride, count) : words{};
            transpose(square);
            FOVEA_UNROLL for (i64 p = 0; p < kLanes; ++p) if (2 * p < count)
                store_as(to + 2 * (p * Width + j), square[p]);
        }
    }
}

/// Columns of b to [pair, Width, 2], those past the end as 0.
template <int Width, class T, class Stride, class... Axes>
inline void pack_column_pairs(bf16* to, const T* b, Stride stride, i64 columns, Axes... steps) {
    if constexpr (lie_along<decltype(steps.stride)...>()) {
        pack_columns_along<Width>(to, b, stride, columns, (i64(steps.extent) + ...));
    } else {
        const auto write = [&](const T* first, const T* second) FOVEA_LAMBDA {
            for (i64 j = 0; j < Width; j += kLanes, first += kLanes * stride) {
                store_as(to + 2 * j, pairs_of(first, second, stride, lanes_at(j, columns)));
                if (second) second += kLanes * stride;
            }
            to += 2 * Width;
        };
        for_each_pair(b, write, steps...);
    }
}

/// Floats of rows whose steps are neighbours to [row, `length`]; `length` is a multiple of 32.
template <class Stride>
inline void round_rows(bf16* to, i64 length, const float* a, Stride row, i64 rows, i64 extent) {
    for (i64 i = 0; i < rows; ++i, a += row, to += length)
        for (i64 k = 0; k < extent; k += 2 * kLanes)
            store_as(to + k, words_along(a + k, extent - k));
}

/// Rows of a to [tile, pair, Rows, 2], those past the end as 0: several tiles at a time, so that
/// each line of a is read once.
template <int Rows, class T, class Stride, class... Axes>
inline void pack_row_pairs(bf16* to, const T* a, Stride row, i64 rows, i64 pairs, Axes... steps) {
    constexpr i64 kTiles = 8;
    const i64 tile = 2 * Rows * pairs;
    for (i64 i = 0; i < rows; i += kTiles * Rows, to += kTiles * tile) {
        bf16* at = to;
        const i64 tiles = (rows - i + Rows - 1) / Rows;
        const auto write = [&](const T* first, const T* second) FOVEA_LAMBDA {
            for (i64 t = 0; t < kTiles && t < tiles; ++t) {
                const i64 left = rows - i - t * Rows;
                const words some = pairs_of(first, second, row, Lanes{left < Rows ? left : Rows});
                store(reinterpret_cast<i32*>(at + t * tile), ints(some), Lanes{Rows});
                first += Rows * row;
                if (second) second += Rows * row;
            }
            at += 2 * Rows;
        };
        for_each_pair(a + i * row, write, steps...);
    }
}

}  // namespace fovea::cpu::inline FOVEA_ISA
