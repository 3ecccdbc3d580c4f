// Contractions y[i, j] = sum over k of a[i, k] * b[k, j], for operands with any strides.
//
// A register tile of Rows x Vectors accumulators, with j in the lanes, runs over all of k: every
// element has one accumulator and adds k = 0, 1, 2, ... in order, whichever tile it falls into.
// b is read where it lies when j has stride 1; otherwise, and for the last columns, a panel of it
// is packed to [k, 16 * Vectors].
#pragma once

#include "pack.h"
#include "product_tiles.h"

namespace fovea::cpu::inline FOVEA_ISA {

/// Which lanes of a panel's vectors are columns; a whole panel has no others.
template <bool Whole, int Vectors>
FOVEA_INLINE void set_lanes(Lanes (&lanes)[Vectors], const Panel& panel) {
    if constexpr (!Whole)
        FOVEA_UNROLL for (int v = 0; v < Vectors; ++v) lanes[v] =
            lanes_at(kLanes * v, panel.columns);
}

template <int Rows, int Vectors, bool Whole, class StrideA, i64 Width, class Finish, class... Sums>
FOVEA_INLINE void contract_panel(const Panel& panel, Operand<StrideA> a, PanelOperand<Width> b,
                                 const Finish& finish, Sums... sums) {
    Lanes lanes[Vectors];
    set_lanes<Whole>(lanes, panel);
    const auto columns = [&](i64 column) {
        return b.data + column / Width * b.panel + column % Width;
    };
    const auto what_comes = [](const float* next) {
        if constexpr (is_long<Sums...>()) return NextPanel{next, Width};
        else return NothingNext{};
    };
    constexpr i64 kWidth = kLanes * Vectors;
    if constexpr (Width > kWidth) {
        // Some of its lines: copied, it is shorter on its way from the second cache.
        if (panel.rows >= kRowsToPack && steps_of(sums...) >= kLongSum) {
            float* const packed = scratch(kWidth * steps_of(sums...));
            float* end = packed;
            pack_panel<kWidth>(end, columns(panel.column), fixed<1>, kWidth, sums...);
            with_packed_steps<kWidth>(
                [&](auto... steps) FOVEA_LAMBDA {
                    contract_rows<Rows, Vectors>(
                        panel.row, panel.rows, panel.column, lanes, a.data + panel.row * a.stride,
                        a.stride, Rows * a.stride, packed, finish, NextRows{}, steps...);
                },
                sums...);
            return;
        }
    }
    contract_rows<Rows, Vectors>(panel.row, panel.rows, panel.column, lanes,
                                 a.data + panel.row * a.stride, a.stride, Rows * a.stride,
                                 columns(panel.column), finish,
                                 what_comes(columns(panel.next_column)), sums...);
}

/// A whole panel of a block whose rows are packed; a and b begin at its block and at its columns.
/// Behind the packed rows lie two panels, this one and the next: on the way of the first tiles that
/// is copied, and the rows of a fresh block are those that the tiles after these take.
template <int Rows, int Vectors, class Finish, class Given>
FOVEA_INLINE void contract_packed(const Panel& panel, const Lanes (&lanes)[Vectors], const float* a,
                                  const float* b, const Finish& finish, Given sum) {
    constexpr i64 kWidth = kLanes * Vectors;
    constexpr i64 kCopying = Rows * Vectors;  // rows of the tiles that copy a panel at each step
    constexpr i64 kMostSteps = 4;  // for a piece
    // Rows that are packed at a time: whole lines, and no fewer than those that copy a panel.
    constexpr i64 kLines = kTilesOfLines<Rows>;
    constexpr i64 kTiles = (Vectors + kLines - 1) / kLines * kLines, kGroup = kTiles * Rows;
    const i64 steps = sum.extent, tiles = (panel.block_rows + Rows - 1) / Rows;
    float* const packed = scratch((tiles * Rows + 2 * kWidth) * steps);
    float* const panels[] = {packed + tiles * Rows * steps,
                             packed + (tiles * Rows + kWidth) * steps};
    const i64 turn = panel.column / kWidth % 2;
    if (!panel.behind_long) {
        float* end = panels[turn];
        pack_panel<kWidth>(end, b, fixed<1>, kWidth, sum);
    }
    i64 row = panel.row, left = panel.rows;
    const auto run = [&](i64 rows, auto next) FOVEA_LAMBDA {
        contract_rows<Rows, Vectors>(
            row, rows, panel.column, lanes, packed + (row - panel.block_row) * steps, fixed<1>,
            Rows * steps, panels[turn], finish, next, Sum{steps, fixed<Rows>, fixed<kWidth>});
        row += rows, left -= rows;
    };
    const bool copies = panel.next_column > 0 && left >= kCopying;
    CopyByTiles<Vectors, kLanes> next_panel{
        {b + kWidth, sum.b, panels[1 - turn], kLanes, kWidth}, steps, kCopying};
    const i64 groups = left / kGroup;
    if (panel.fresh && groups > 1 && left == panel.block_rows) {
        pack_rows<Rows>(packed, a, kGroup, sum);
        pack_rows<Rows>(packed + groups * kGroup * steps, a + groups * kGroup,
                        left - groups * kGroup, sum);
        for (i64 group = 1; group < groups; ++group) {
            CopyByTiles<kTiles, Rows> rows{
                {a + group * kGroup, sum.a, packed + group * kGroup * steps, steps * Rows, Rows},
                steps,
                kGroup};
            i64 count = kGroup;
            if (group == 1 && copies) {
                rows.rows = kCopying;
                run(kCopying, CopyBoth{rows, next_panel});
                rows.rows = kGroup;
                count -= kCopying;
            }
            run(count, rows);
        }
    } else {
        if (panel.fresh) pack_rows<Rows>(packed, a, panel.block_rows, sum);
        if (copies) {
            // A line takes longer to come than the sums of a step: few rows spread the copies.
            const i64 every = left / kCopying < kMostSteps ? left / kCopying : kMostSteps;
            next_panel.pieces.every = every;
            next_panel.rows = every * kCopying;
            run(every * kCopying, next_panel);
        }
    }
    run(left, NothingNext{});
}

/// Whether a panel has a lot of code, since its rows may be packed, that other kernels have, too.
template <class Finish, class StrideA, class... Sums>
constexpr bool can_be_shared() {
    if constexpr (sizeof...(Sums) != 1 || !std::is_same_v<Finish, StoreProduct>) return false;
    else
        return may_pack_rows<StrideA, Sums...>() &&
               !(std::is_same_v<Sums, Sum<i64, i64, i64>> && ...);
}

/// The panel of any product that is stored as it is, of operands with these strides: one copy of
/// the code serves every kernel.
template <int Rows, int Vectors, bool Whole, class StrideA, class StrideB>
void shared_panel(const Panel& panel, Operand<StrideA> a, Operand<StrideB> b,
                  const StoreProduct& finish, Sum<i64, i64, i64> sum);

template <int Rows, int Vectors, bool Whole, class StrideA, class StrideB, class Finish,
          class... Sums>
FOVEA_INLINE void contract_panel(const Panel& panel, Operand<StrideA> a, Operand<StrideB> b,
                                 const Finish& finish, Sums... sums) {
    constexpr int kWidth = int(kLanes) * Vectors;
    constexpr bool kUnit = std::is_same_v<StrideB, Fixed<1>>;
    const float* columns = b.data + panel.column * b.stride;
    Lanes lanes[Vectors];
    set_lanes<Whole>(lanes, panel);
    const auto run_on = [&](const float* rows, auto row, i64 tile, auto next,
                            auto... steps) FOVEA_LAMBDA {
        contract_rows<Rows, Vectors>(panel.row, panel.rows, panel.column, lanes, rows, row, tile,
                                     columns, finish, next, steps...);
    };
    const auto run = [&](auto next, auto... steps) FOVEA_LAMBDA {
        run_on(a.data + panel.row * a.stride, a.stride, Rows * a.stride, next, steps...);
    };
    if constexpr (kUnit && Whole && is_small<Sums...>()) {
        run(NothingNext{}, sums...);
        return;
    }
    if constexpr (can_be_shared<Finish, StrideA, Sums...>())
        return shared_panel<Rows, Vectors, Whole>(
            panel, a, b, finish, Sum{i64(sums.extent), i64(sums.a), i64(sums.b)}...);
    if constexpr (may_pack_rows<StrideA, Sums...>()) {
        const i64 steps = steps_of(sums...);
        if (panel.reused && panel.block_rows >= kRowsToPack &&
            (steps * (i64(sums.a) + ...) > kSmallPanel)) {
            if constexpr (kUnit && Whole)
                if (spreads_wide(sums...))
                    return contract_packed<Rows, Vectors>(panel, lanes, a.data + panel.block_row,
                                                          columns, finish, sums...);
            const i64 tiles = (panel.block_rows + Rows - 1) / Rows;
            float* packed = scratch(tiles * Rows * steps + kWidth * steps);
            float* end = packed + tiles * Rows * steps;
            if (panel.fresh)
                pack_rows<Rows>(packed, a.data + panel.block_row, panel.block_rows, sums...);
            const float* rows = packed + (panel.row - panel.block_row) * steps;
            i64 step = (i64(sums.b) + ...);
            if (!kUnit || panel.columns < kWidth || spreads_wide(sums...)) {
                float* panel_end = end;
                pack_panel<kWidth>(panel_end, columns, b.stride, panel.columns, sums...);
                columns = end;
                step = kWidth;
            }
            run_on(rows, fixed<1>, Rows * steps, NothingNext{}, Sum{steps, fixed<Rows>, step});
            return;
        }
    }
    if (kUnit && panel.columns == kWidth && (panel.rows < kRowsToPack || !spreads_wide(sums...))) {
        run(next_sums(panel, finish), Sum{sums.extent, sums.a, i64(sums.b)}...);
    } else {
        float* packed = scratch(kWidth * steps_of(sums...));
        float* end = packed;
        pack_panel<kWidth>(end, columns, b.stride, panel.columns, sums...);
        columns = packed;
        const auto run_packed = [&](auto... steps) FOVEA_LAMBDA {
            if constexpr (is_long<Sums...>() && kUnit && is_cached<Sums...>())
                run(NextPanel{b.data + panel.next_column, (i64(sums.b) + ...)}, steps...);
            else if constexpr (is_long<Sums...>()) run(NextRows{}, steps...);
            else run(next_sums(panel, finish), steps...);
        };
        with_packed_steps<kWidth>(run_packed, sums...);
    }
}

template <int Rows, int Vectors, bool Whole, class StrideA, class StrideB>
FOVEA_SHARED __attribute__((noinline)) void shared_panel(const Panel& panel, Operand<StrideA> a,
                                                         Operand<StrideB> b,
                                                         const StoreProduct& finish,
                                                         Sum<i64, i64, i64> sum) {
    contract_panel<Rows, Vectors, Whole>(panel, a, b, finish, sum);
}

/// The register tiles of a panel, and whether none of its lanes is ever masked.
template <int Rows, int Vectors, bool Whole>
struct PanelTiles {
    static constexpr int kRows = Rows, kVectors = Vectors;
    static constexpr bool kWhole = Whole;
};
/// Calls run with the PanelTiles of a panel. `columns` is the extent of j: when it is known and a
/// multiple of the panel's width, no lane is masked.
template <int Rows, int Vectors, class Columns, class Run>
FOVEA_INLINE void with_panel_tiles(const Panel& panel, Columns /*columns*/, const Run& run) {
    constexpr int kRows = tile_rows(Rows, Vectors), kVectors = tile_vectors(Vectors);
    constexpr i64 kColumns = kKnown<Columns>;
    constexpr bool kWhole = kColumns > 0 && kColumns % (kLanes * kVectors) == 0;
    if constexpr (kVectors > 1 && kColumns == 0)
        if (panel.columns <= kLanes) return run(PanelTiles<kRows, 1, false>{});
    run(PanelTiles<kRows, kVectors, kWhole>{});
}

/// One panel of a contraction; `columns` as above.
template <int Rows, int Vectors, class Columns, class A, class B, class Finish, class... Sums>
FOVEA_INLINE void contract(const Panel& panel, Columns columns, A a, B b, const Finish& finish,
                           Sums... sums) {
    with_panel_tiles<Rows, Vectors>(panel, columns, [&](auto tiles) FOVEA_LAMBDA {
        using Tiles = decltype(tiles);
        contract_panel<Tiles::kRows, Tiles::kVectors, Tiles::kWhole>(panel, a, b, finish, sums...);
    });
}

}  // namespace fovea::cpu::inline FOVEA_ISA
