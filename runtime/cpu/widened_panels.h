// Contractions of bfloat16 over many rows where no instruction multiplies pairs: what pairs become
// floats once, for all rows and columns that meet them, and tiles are those of floats.
#pragma once

#include <cstring>

#include "pack_pairs.h"

namespace fovea::cpu::inline FOVEA_ISA {

/// Whether rows that meet a panel are many enough, and their floats few enough to be kept.
constexpr bool are_widened(i64 rows, i64 steps) {
    constexpr i64 kLeast = 16;
    return rows >= kLeast && rows * whole_lanes(steps) <= kPackedFloats;
}

/// Columns of a panel of pairs, Width apart, as floats [steps, 16 * Vectors].
template <i64 Width, int Vectors>
inline void widen_columns(float* to, const bf16* b, i64 pairs) {
    constexpr i64 kWidth = kLanes * Vectors;
    for (i64 pair = 0; pair < pairs; ++pair, b += 2 * Width, to += 2 * kWidth)
        FOVEA_UNROLL for (int v = 0; v < Vectors; ++v) {
            const auto both = load_as<words>(b + 2 * kLanes * v);
            store(to + kLanes * v, floats(both << 16));
            store(to + kWidth + kLanes * v, floats(both & 0xffff0000U));
        }
}

/// 16 elements as floats that are rounded to bfloat16.
FOVEA_INLINE floats rounded(const bf16* from, Lanes lanes) { return load(from, lanes); }
FOVEA_INLINE floats rounded(const float* from, Lanes lanes) {
    return widen<bf16>(narrow<bf16>(load(from, lanes)));
}
/// Rows whose steps are neighbours as floats [row, `length`], a multiple of 16; 0 behind the steps.
template <class T, class Stride>
inline void widen_rows(float* to, i64 length, const T* a, Stride row, i64 rows, i64 extent) {
    const i64 whole = extent / kLanes * kLanes;
    for (i64 i = 0; i < rows; ++i, a += row, to += length) {
        for (i64 k = 0; k < whole; k += kLanes) store(to + k, rounded(a + k, Lanes{}));
        if (whole < length) store(to + whole, rounded(a + whole, lanes_at(whole, extent)));
    }
}

/// Rows whose steps are not neighbours as floats [tile, step, Rows], those past the end as 0: as
/// many tiles at a time as fill whole lines, so that each line of a is read once.
template <int Rows, class T, class Stride, class... Axes>
inline void widen_row_tiles(float* to, const T* a, Stride row, i64 rows, Axes... axes) {
    constexpr i64 kTiles = kTilesOfLines<Rows>, kLineRows = kTiles * Rows;
    const i64 tile = Rows * (i64(1) * ... * i64(axes.extent));
    for (i64 i = 0; i < rows; i += kLineRows, to += kTiles * tile) {
        const i64 count = rows - i < kLineRows ? rows - i : kLineRows;
        float* at = to;
        const auto widen_step = [&](const T* step) FOVEA_LAMBDA {
            float line[kLineRows]{};
            for (i64 x = 0; x < count; x += kLanes) {
                const words pieces = half_words(step + x * row, row, lanes_at(x, count));
                store(line + x, floats(pieces << 16));
            }
            for (i64 t = 0; t * Rows < count; ++t)
                std::memcpy(at + t * tile, line + t * Rows, sizeof(float) * Rows);
            at += Rows;
        };
        for_each_step(a + i * row, widen_step, axes...);
    }
}

/// The floats of scratch memory that the widened rows of a block take, and one panel.
template <int Rows>
FOVEA_INLINE i64 widened_floats(i64 rows, i64 columns, i64 steps) {
    return (rows + Rows - 1) / Rows * Rows * whole_lanes(steps) + columns * ((steps + 1) / 2 * 2);
}

/// One panel: Width columns from `columns` on, of pairs.
template <i64 Width, int Rows, int Vectors, class T, class Stride, class Finish, class... Sums>
FOVEA_INLINE void contract_widened(const Panel& panel, const Lanes (&lanes)[Vectors],
                                   HalfOperand<T, Stride> a, const bf16* columns, float* memory,
                                   const Finish& finish, Sums... sums) {
    constexpr i64 kWidth = kLanes * Vectors;
    const i64 steps = steps_of(sums...), length = whole_lanes(steps);
    const i64 first = panel.reused ? panel.block_row : panel.row;
    const i64 rows = panel.reused ? panel.block_rows : panel.rows;
    float* const panel_floats = memory + (rows + Rows - 1) / Rows * Rows * length;
    const bool fresh = panel.fresh || !panel.reused;
    const T* const from = a.data + first * a.stride;
    widen_columns<Width, Vectors>(panel_floats, columns, (steps + 1) / 2);
    const auto run = [&](auto row, i64 tile, auto step) FOVEA_LAMBDA {
        contract_rows<Rows, Vectors>(panel.row, panel.rows, panel.column, lanes,
                                     memory + (panel.row - first) / Rows * tile, row, tile,
                                     static_cast<const float*>(panel_floats), finish, NothingNext{},
                                     Sum{steps, step, fixed<kWidth>});
    };
    if constexpr (lie_along<decltype(sums.a)...>()) {
        if (fresh) widen_rows(memory, length, from, a.stride, rows, steps);
        run(length, Rows * length, fixed<1>);
    } else {
        if (fresh)
            widen_row_tiles<Rows>(memory, from, a.stride, rows, Steps{sums.extent, sums.a}...);
        run(fixed<1>, Rows * steps, fixed<Rows>);
    }
}

}  // namespace fovea::cpu::inline FOVEA_ISA
