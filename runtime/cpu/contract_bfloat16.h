// Contractions of bfloat16 with sums in float32: as in contract.h, but over pairs of steps.
//
// A register tile of Rows x Vectors accumulators, with j in the lanes, runs over all pairs in
// order, whichever tile an element falls into. b comes in panels of pairs: weights lie so, others
// are packed. a is read where it lies when its steps are neighbours, and packed otherwise.
#pragma once

#include "matrix_tiles.h"
#include "widened_panels.h"

namespace fovea::cpu::inline FOVEA_ISA {

/// How rows of a are read: how far from one to the next, from pair to pair, from tile to tile.
template <class Row, class Step>
struct PairRows {
    const bf16* data;
    Row row;
    Step step;
    i64 tile;
};
template <class Row, class Step>
PairRows(const bf16*, Row, Step, i64) -> PairRows<Row, Step>;

/// The steps of a sum: pairs, and perhaps a last one alone.
struct PairSteps {
    i64 pairs;
    bool odd;
};

/// c[i][v] += a[i, k] * b[k, v] over all pairs; b moves by Width columns.
template <i64 Width, int Rows, int Vectors, class Row, class Step, class Next = NoLines>
FOVEA_INLINE void add_pairs(floats (&c)[Rows][Vectors], PairRows<Row, Step> a, const bf16* b,
                            PairSteps steps, Next next = {}) {
    const auto add = [&](auto splat_row) FOVEA_LAMBDA {
        Pairs columns[Vectors];
        FOVEA_UNROLL for (int v = 0; v < Vectors; ++v) columns[v] = load_pairs(b + 2 * kLanes * v);
        FOVEA_UNROLL for (int i = 0; i < Rows; ++i) {
            const Pairs value = splat_row(a.data + i * a.row);
            FOVEA_UNROLL for (int v = 0; v < Vectors; ++v) c[i][v] =
                add_products(value, columns[v], c[i][v]);
        }
    };
    for (i64 k = 0; k < steps.pairs; ++k, a.data += a.step, b += 2 * Width) {
        next.fetch();
        add([](const bf16* at) FOVEA_LAMBDA { return splat_pair(at); });
    }
    if (steps.odd) add([](const bf16* at) FOVEA_LAMBDA { return splat_half(at); });
}

/// A tile of sums in memory, for the last rows: one copy of the code serves every kernel.
template <i64 Width, int Rows, int Vectors>
FOVEA_SHARED __attribute__((noinline)) void pair_product_tile(floats* to, PairRows<i64, i64> a,
                                                              const bf16* b, PairSteps steps) {
    floats c[Rows][Vectors];
    FOVEA_UNROLL for (auto& vectors : c) FOVEA_UNROLL for (floats& vector : vectors) vector =
        floats{};
    // A line is 16 pairs.
    const auto* lines = reinterpret_cast<const std::uint32_t*>(b);
    add_pairs<Width>(c, a, b, steps,
                     columns_ahead<Rows, Vectors>(lines, Sum{steps.pairs, a.step, fixed<Width>}));
    FOVEA_UNROLL for (int r = 0; r < Rows; ++r) FOVEA_UNROLL for (int v = 0; v < Vectors; ++v)
        to[r * Vectors + v] = c[r][v];
}

/// `rows` < 2 * Rows rows: tiles of Rows, then of fewer.
template <i64 Width, int Rows, int Vectors>
inline void pair_product_rows(floats* to, i64 rows, PairRows<i64, i64> a, const bf16* b,
                              PairSteps steps) {
    for (; rows >= Rows; rows -= Rows, a.data += Rows * a.row, to += Rows * Vectors)
        pair_product_tile<Width, Rows, Vectors>(to, a, b, steps);
    if constexpr (Rows > 1)
        if (rows > 0) pair_product_rows<Width, next_fewer(Rows), Vectors>(to, rows, a, b, steps);
}

/// All rows of a panel: whole tiles in registers, then the rest by way of memory.
template <i64 Width, int Rows, int Vectors, class Row, class Step, class Finish>
FOVEA_INLINE void contract_pair_rows(i64 i, i64 rows, i64 j, const Lanes (&lanes)[Vectors],
                                     PairRows<Row, Step> a, const bf16* b, PairSteps steps,
                                     const Finish& finish) {
    for (; rows >= Rows; i += Rows, rows -= Rows, a.data += a.tile) {
        floats c[Rows][Vectors];
        FOVEA_UNROLL for (auto& vectors : c) FOVEA_UNROLL for (floats& vector : vectors) vector =
            floats{};
        add_pairs<Width>(c, a, b, steps);
        finish_tile(i, j, lanes, c, finish);
    }
    if (rows == 0) return;
    floats rest[(Rows - 1) * Vectors] = {};
    const PairRows<i64, i64> last{a.data, i64(a.row), i64(a.step), a.tile};
    pair_product_rows<Width, next_fewer(Rows), Vectors>(rest, rows, last, b, steps);
#pragma GCC unroll 1
    for (i64 r = 0; r < rows; ++r)
#pragma GCC unroll 1
        for (int v = 0; v < Vectors; ++v)
            if (lanes[v].count > 0) finish(i + r, j + kLanes * v, lanes[v], rest[r * Vectors + v]);
}

/// How many floats of scratch memory the packed rows of a take.
template <int Rows, class T, bool Along>
FOVEA_INLINE i64 packed_floats(i64 rows, i64 steps) {
    if constexpr (Along && std::is_same_v<T, bf16>) return 0;
    else if constexpr (Along) return rows * ((steps + 2 * kLanes - 1) / (2 * kLanes) * kLanes);
    else return (rows + Rows - 1) / Rows * Rows * ((steps + 1) / 2);
}

/// Rows `first` to first + rows - 1 of a: where they lie, or as they were packed to `to`, now with
/// `pack`.
template <int Rows, class T, class Stride, class... Sums>
FOVEA_INLINE auto pair_rows(bf16* to, HalfOperand<T, Stride> a, i64 first, i64 rows, bool pack,
                            Sums... sums) {
    const i64 steps = steps_of(sums...), pairs = (steps + 1) / 2;
    const T* from = a.data + first * a.stride;
    if constexpr (!lie_along<decltype(sums.a)...>()) {
        if (pack)
            pack_row_pairs<Rows>(to, from, a.stride, rows, pairs, Steps{sums.extent, sums.a}...);
        return PairRows{static_cast<const bf16*>(to), fixed<2>, fixed<2 * Rows>, 2 * Rows * pairs};
    } else if constexpr (std::is_same_v<T, bf16>) {
        return PairRows{from, a.stride, fixed<2>, Rows * i64(a.stride)};
    } else {
        const i64 length = (steps + 2 * kLanes - 1) / (2 * kLanes) * (2 * kLanes);
        if (pack) round_rows(to, length, from, a.stride, rows, steps);
        return PairRows{static_cast<const bf16*>(to), length, fixed<2>, Rows * length};
    }
}

/// One panel whose columns lie at `b`, Width apart; `memory` is for the rows of a.
template <i64 Width, int Rows, int Vectors, class T, class Stride, class Finish, class... Sums>
FOVEA_INLINE void contract_packed(const Panel& panel, const Lanes (&lanes)[Vectors], bf16* memory,
                                  HalfOperand<T, Stride> a, const bf16* b, const Finish& finish,
                                  i64 chunk, Sums... sums) {
    const i64 steps = steps_of(sums...);
    constexpr bool kWhereItLies = std::is_same_v<T, bf16> && lie_along<decltype(sums.a)...>();
    const PairSteps pairs =
        kWhereItLies ? PairSteps{steps / 2, steps % 2 != 0} : PairSteps{(steps + 1) / 2, false};
    const i64 end = panel.row + panel.rows;
    for (i64 row = panel.row; row < end; row += chunk) {
        const i64 count = end - row < chunk ? end - row : chunk;
        const i64 first = panel.reused ? panel.block_row : row;
        const i64 packed = panel.reused ? panel.block_rows : count;
        auto rows =
            pair_rows<Rows>(memory, a, first, packed, panel.fresh || !panel.reused, sums...);
        rows.data += (row - first) / Rows * rows.tile;
        contract_pair_rows<Width, Rows>(row, count, panel.column, lanes, rows, b, pairs, finish);
    }
}

template <int Rows, int Vectors, bool Whole, class T, class Stride, class B, class Finish,
          class... Sums>
FOVEA_INLINE void contract_pair_panel(const Panel& panel, HalfOperand<T, Stride> a, B b,
                                      const Finish& finish, Sums... sums) {
    if constexpr (takes_matrix_tiles<Sums...>())
        return contract_matrix_panel<Vectors, Whole>(panel, a, b, finish, sums...);
    constexpr int kWidth = int(kLanes) * Vectors;
    constexpr bool kAlong = lie_along<decltype(sums.a)...>();
    Lanes lanes[Vectors];
    set_lanes<Whole>(lanes, panel);
    const i64 steps = steps_of(sums...);
    const i64 rows_together = panel.reused ? panel.block_rows : panel.rows;
    if constexpr (!kMultipliesPairs)
        if (are_widened(rows_together, steps)) {
            const i64 widened = widened_floats<Rows>(rows_together, kWidth, steps);
            if constexpr (kPanelWidth<B> > 0) {
                return contract_widened<kPanelWidth<B>, Rows>(panel, lanes, a, b.at(panel.column),
                                                              scratch(widened), finish, sums...);
            } else {
                float* const memory = scratch(widened + kWidth * ((steps + 1) / 2));
                auto* columns = reinterpret_cast<bf16*>(memory + widened);
                pack_column_pairs<kWidth>(columns, b.data + panel.column * b.stride, b.stride,
                                          panel.columns, Steps{sums.extent, sums.b}...);
                return contract_widened<kWidth, Rows>(panel, lanes, a, columns, memory, finish,
                                                      sums...);
            }
        }
    const bool chunks = !panel.reused && !(kAlong && std::is_same_v<T, bf16>);
    const i64 chunk = chunks ? kChunkTiles * Rows : panel.rows;
    const i64 rows = panel.reused ? panel.block_rows : chunk;
    const i64 floats_of_a = packed_floats<Rows, T, kAlong>(rows, steps);
    if constexpr (kPanelWidth<B> > 0) {
        bf16* memory = floats_of_a ? reinterpret_cast<bf16*>(scratch(floats_of_a)) : nullptr;
        contract_packed<kPanelWidth<B>, Rows>(panel, lanes, memory, a, b.at(panel.column), finish,
                                              chunk, sums...);
    } else {
        auto* memory = reinterpret_cast<bf16*>(scratch(floats_of_a + kWidth * ((steps + 1) / 2)));
        bf16* columns = memory + 2 * floats_of_a;
        pack_column_pairs<kWidth>(columns, b.data + panel.column * b.stride, b.stride,
                                  panel.columns, Steps{sums.extent, sums.b}...);
        contract_packed<kWidth, Rows>(panel, lanes, memory, a, columns, finish, chunk, sums...);
    }
}

/// One panel of a contraction, as `contract` of contract.h.
template <int Rows, int Vectors, class Columns, class A, class B, class Finish, class... Sums>
FOVEA_INLINE void contract_bfloat16(const Panel& panel, Columns columns, A a, B b,
                                    const Finish& finish, Sums... sums) {
    with_panel_tiles<Rows, Vectors>(panel, columns, [&](auto tiles) FOVEA_LAMBDA {
        using Tiles = decltype(tiles);
        contract_pair_panel<Tiles::kRows, Tiles::kVectors, Tiles::kWhole>(panel, a, b, finish,
                                                                          sums...);
    });
}

}  // namespace fovea::cpu::inline FOVEA_ISA
