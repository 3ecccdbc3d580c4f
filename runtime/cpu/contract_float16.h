// Contractions of float16 with sums in float32: the register tiles of contract.h, over rows of a
// that are widened when they are packed, and columns of b that are widened when they are read.
//
// b lies in panels (weights do), is read in place where its columns are neighbours, and is packed
// otherwise; all of it is, as floats, where the machine has no instruction that widens. Products of
// two halves are exact in float32, so that the bits are those of a product of floats that have
// these values.
#pragma once

#include "half_operands.h"

namespace fovea::cpu::inline FOVEA_ISA {

/// b in panels of Width neighbours along j, `panel` elements from one to the next.
template <i64 Width>
struct HalfPanels {
    const f16* data;
    i64 panel;

    /// Where the columns from `column` on start.
    const f16* at(i64 column) const { return data + column / Width * panel + column % Width; }
};
template <i64 Width>
inline constexpr i64 kPanelWidth<HalfPanels<Width>> = Width;

/// What b lies as where it is packed.
#if defined(__AVX512F__) || (defined(__AVX2__) && defined(__F16C__)) || defined(__aarch64__)
using Factor = f16;
#else
using Factor = float;
#endif
inline constexpr bool kWidensAsItReads = std::is_same_v<Factor, f16>;

/// 16 elements as values of float16, `stride` apart.
template <class T, class Stride>
FOVEA_INLINE floats load_factors(const T* from, Stride stride, Lanes lanes) {
    floats values;
    if constexpr (std::is_same_v<Stride, Fixed<1>>) values = load(from, lanes);
    else values = load_strided(from, i64(stride), lanes);
    if constexpr (std::is_same_v<T, f16>) return values;
    else return rounded_to_f16(values);
}

/// Rows of a whose steps are neighbours to [row, `length`], a multiple of 16.
template <class T, class Stride>
inline void pack_factor_rows(float* to, i64 length, const T* a, Stride row, i64 rows, i64 extent) {
    for (i64 i = 0; i < rows; ++i, a += row, to += length)
        for (i64 k = 0; k < extent; k += kLanes)
            store(to + k, load_factors(a + k, fixed<1>, lanes_at(k, extent)));
}

/// Rows of a to [tile, step, Rows], those past the end as 0: several tiles at a time, so that each
/// line of a is read once.
template <int Rows, class T, class Stride, class... Axes>
inline void pack_factor_tiles(float* to, const T* a, Stride row, i64 rows, i64 steps,
                              Axes... axes) {
    constexpr i64 kTiles = 8;
    const i64 tile = Rows * steps;
    for (i64 i = 0; i < rows; i += kTiles * Rows, to += kTiles * tile) {
        float* step = to;
        const i64 tiles = (rows - i + Rows - 1) / Rows;
        const auto write = [&](const T* at) FOVEA_LAMBDA {
            for (i64 t = 0; t < kTiles && t < tiles; ++t, at += Rows * row) {
                const i64 left = rows - i - t * Rows;
                store(step + t * tile, load_factors(at, row, Lanes{left < Rows ? left : Rows}),
                      Lanes{Rows});
            }
            step += Rows;
        };
        for_each_step(a + i * row, write, axes...);
    }
}

/// Columns of b, whose steps are neighbours, to [k, Width], in squares of 16 x 16.
template <int Width, class T, class Stride>
inline void pack_factors_along(Factor* to, const T* b, Stride stride, i64 columns, i64 extent) {
    for (i64 k = 0; k < extent; k += kLanes, to += kLanes * Width) {
        const Lanes steps = lanes_at(k, extent);
        for (i64 j = 0; j < Width; j += kLanes) {
            floats square[kLanes];
            FOVEA_UNROLL for (i64 i = 0; i < kLanes; ++i) square[i] =
                j + i < columns ? load_factors(b + k + (j + i) * stride, fixed<1>, steps)
                                : floats{};
            transpose(square);
            FOVEA_UNROLL for (i64 i = 0; i < kLanes; ++i) if (i < steps.count)
                store(to + i * Width + j, square[i]);
        }
    }
}

/// Columns of b to [k, Width], those past the end as 0.
template <int Width, class T, class Stride, class... Axes>
inline void pack_factor_columns(Factor* to, const T* b, Stride stride, i64 columns, Axes... axes) {
    if constexpr (lie_along<decltype(axes.stride)...>()) {
        pack_factors_along<Width>(to, b, stride, columns, (i64(axes.extent) + ...));
    } else {
        const auto write = [&](const T* at) FOVEA_LAMBDA {
            for (i64 j = 0; j < Width; j += kLanes, at += kLanes * stride)
                store(to + j, load_factors(at, stride, lanes_at(j, columns)));
            to += Width;
        };
        for_each_step(b, write, axes...);
    }
}

/// One panel whose columns lie at `b`, `step` apart from one step to the next; `memory` is for the
/// rows of a, `chunk` of them at a time where only this panel reads them.
template <int Rows, int Vectors, class T, class Stride, class Step, class Finish, class... Sums>
FOVEA_INLINE void contract_factors(const Panel& panel, const Lanes (&lanes)[Vectors], float* memory,
                                   HalfOperand<T, Stride> a, const Factor* b, Step step,
                                   const Finish& finish, i64 chunk, Sums... sums) {
    const i64 steps = steps_of(sums...), length = whole_lanes(steps);
    const i64 end = panel.row + panel.rows;
    for (i64 row = panel.row; row < end; row += chunk) {
        const i64 count = end - row < chunk ? end - row : chunk;
        const i64 first = panel.reused ? panel.block_row : row;
        const i64 packed = panel.reused ? panel.block_rows : count;
        const T* from = a.data + first * a.stride;
        const bool packs = panel.fresh || !panel.reused;
        if constexpr (lie_along<decltype(sums.a)...>()) {
            if (packs) pack_factor_rows(memory, length, from, a.stride, packed, steps);
            contract_rows<Rows, Vectors>(row, count, panel.column, lanes,
                                         memory + (row - first) * length, length, Rows * length, b,
                                         finish, NothingNext{}, Sum{steps, fixed<1>, step});
        } else {
            if (packs)
                pack_factor_tiles<Rows>(memory, from, a.stride, packed, steps,
                                        Steps{sums.extent, sums.a}...);
            contract_rows<Rows, Vectors>(row, count, panel.column, lanes,
                                         memory + (row - first) * steps, fixed<1>, Rows * steps, b,
                                         finish, NothingNext{}, Sum{steps, fixed<Rows>, step});
        }
    }
}

template <int Rows, int Vectors, bool Whole, class T, class Stride, class B, class Finish,
          class... Sums>
FOVEA_INLINE void contract_factor_panel(const Panel& panel, HalfOperand<T, Stride> a, B b,
                                        const Finish& finish, Sums... sums) {
    constexpr int kWidth = int(kLanes) * Vectors;
    Lanes lanes[Vectors];
    set_lanes<Whole>(lanes, panel);
    const i64 steps = steps_of(sums...);
    const i64 chunk = panel.reused ? panel.rows : kChunkTiles * Rows;
    const i64 rows = panel.reused ? panel.block_rows : minimum(chunk, panel.rows);
    const i64 floats_of_a = (rows + Rows - 1) / Rows * Rows * whole_lanes(steps);
    const auto run = [&](float* memory, const Factor* columns, auto step) FOVEA_LAMBDA {
        contract_factors<Rows>(panel, lanes, memory, a, columns, step, finish, chunk, sums...);
    };
    // As much for all panels of a block: more would move the rows that are packed.
    const i64 floats_of_b = kWidth * steps * i64(sizeof(Factor)) / i64(sizeof(float)) + kLanes;
    constexpr i64 kPanel = kPanelWidth<B>;
    float* memory = scratch(floats_of_a + (kPanel > 0 && kWidensAsItReads ? 0 : floats_of_b));
    auto* columns = reinterpret_cast<Factor*>(memory + floats_of_a);
    if constexpr (kPanel > 0) {
        const f16* first = b.at(panel.column);
        if constexpr (kWidensAsItReads) return run(memory, first, fixed<kPanel>);
        else
            pack_factor_columns<kWidth>(columns, first, fixed<1>, panel.columns,
                                        Steps{steps, fixed<kPanel>});
    } else {
        using Data = std::remove_cvref_t<decltype(*b.data)>;
        const auto* first = b.data + panel.column * b.stride;
        if constexpr (sizeof...(Sums) == 1 && kWidensAsItReads && std::is_same_v<Data, f16> &&
                      std::is_same_v<decltype(b.stride), Fixed<1>>)
            if (panel.columns == kWidth) return run(memory, first, (i64(sums.b) + ...));
        pack_factor_columns<kWidth>(columns, first, b.stride, panel.columns,
                                    Steps{sums.extent, sums.b}...);
    }
    run(memory, columns, fixed<kWidth>);
}

/// One panel of a contraction, as `contract` of contract.h.
template <int Rows, int Vectors, class Columns, class A, class B, class Finish, class... Sums>
FOVEA_INLINE void contract_float16(const Panel& panel, Columns columns, A a, B b,
                                   const Finish& finish, Sums... sums) {
    with_panel_tiles<Rows, Vectors>(panel, columns, [&](auto tiles) FOVEA_LAMBDA {
        using Tiles = decltype(tiles);
        contract_factor_panel<Tiles::kRows, Tiles::kVectors, Tiles::kWhole>(panel, a, b, finish,
                                                                            sums...);
    });
}

}  // namespace fovea::cpu::inline FOVEA_ISA
