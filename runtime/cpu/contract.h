// Contractions y[i, j] = sum over k of a[i, k] * b[k, j], for operands with any strides.
//
// A register tile of Rows x Vectors accumulators, with j in the lanes, runs over all of k: every
// element has one accumulator and adds k = 0, 1, 2, ... in order, whichever tile it falls into.
// b is read where it lies when j has stride 1; otherwise, and for the last columns, a panel of it
// is packed to [k, 16 * Vectors].
#pragma once

#include "finish.h"
#include "operands.h"
#include "pack.h"
#include "panels.h"

namespace fovea::cpu::inline FOVEA_ISA {

/// Lines of what comes next, fetched on the way: one at each step of a sum.
struct Lines {
    const float* at;
    i64 step;
    FOVEA_INLINE void fetch() {
        __builtin_prefetch(at, 0, 2);
        at += step;
    }
};
struct NoLines {
    FOVEA_INLINE void fetch() {}
};

/// How far ahead of their reader lines of b are fetched where few rows read them once: a page, as
/// the processor's own prefetch ends with each page.
inline constexpr i64 kLinesAhead = 64;
/// The Vectors lines of b that a step reads, fetched that far ahead.
template <int Vectors, class B>
struct LinesAhead {
    const B* at;
    i64 step;
    FOVEA_INLINE void fetch() {
        FOVEA_UNROLL for (int v = 0; v < Vectors; ++v) __builtin_prefetch(at + kLanes * v, 0, 3);
        at += step;
    }
};
/// What a tile of a few rows fetches on its way.
template <int Rows, int Vectors, class B, class First, class... Rest>
FOVEA_INLINE auto lines_ahead(const B* b, First sum, Rest... /*rest*/) {
    if constexpr (Rows > 2 || sizeof...(Rest) > 0) return NoLines{};
    else return LinesAhead<Vectors, B>{b + kLinesAhead / Vectors * i64(sum.b), i64(sum.b)};
}

/// c[i][v] += a[i, k] * b[k, v] over k, or over several contracted axes, the last one fastest; b of
/// floats, or of halves that are widened.
template <int Rows, int Vectors, class Stride, class B, class Next, class First, class... Rest>
FOVEA_INLINE void add_products(floats (&c)[Rows][Vectors], const float* a, Stride row, const B* b,
                               Next next, First sum, Rest... rest) {
    for (i64 k = 0; k < sum.extent; ++k, a += sum.a, b += sum.b) {
        if constexpr (sizeof...(rest) > 0) {
            add_products(c, a, row, b, next, rest...);
        } else {
            next.fetch();
            floats columns[Vectors];
            FOVEA_UNROLL for (int v = 0; v < Vectors; ++v) columns[v] = load(b + kLanes * v);
            FOVEA_UNROLL for (int i = 0; i < Rows; ++i) {
                const floats value = splat(a[i * row]);
                FOVEA_UNROLL for (int v = 0; v < Vectors; ++v) c[i][v] =
                    multiply_add(value, columns[v], c[i][v]);
            }
        }
    }
}

/// finish(i, j, lanes, sum) for 16 elements of the product at a time.
template <int Rows, int Vectors, class Finish>
FOVEA_INLINE void finish_tile(i64 i, i64 j, const Lanes (&lanes)[Vectors],
                              const floats (&c)[Rows][Vectors], const Finish& finish) {
    for_sums<Finish>(c, [&](int r, int v, floats sum) FOVEA_LAMBDA {
        if (v == 0 || lanes[v].count > 0) finish(i + r, j + kLanes * v, lanes[v], sum);
    });
}

/// One tile of the product.
template <int Rows, int Vectors, class Stride, class B, class Finish, class Next, class... Sums>
FOVEA_INLINE void contract_tile(i64 i, i64 j, const Lanes (&lanes)[Vectors], const float* a,
                                Stride row, const B* b, const Finish& finish, Next next,
                                Sums... sums) {
    floats c[Rows][Vectors];
    FOVEA_UNROLL for (auto& vectors : c) FOVEA_UNROLL for (floats& vector : vectors) vector =
        floats{};
    add_products(c, a, row, b, next, sums...);
    finish_tile(i, j, lanes, c, finish);
}

/// The largest power of two below `rows`.
constexpr int next_fewer(int rows) {
    int result = 1;
    while (2 * result < rows) result *= 2;
    return result;
}

/// A tile of sums in memory, for the last rows: one copy of the code serves every kernel.
template <int Rows, int Vectors, class B, class... Sums>
FOVEA_SHARED __attribute__((noinline)) void product_tile(floats* to, const float* a, i64 row,
                                                         const B* b, Sums... sums) {
    floats c[Rows][Vectors];
    FOVEA_UNROLL for (auto& vectors : c) FOVEA_UNROLL for (floats& vector : vectors) vector =
        floats{};
    add_products(c, a, row, b, lines_ahead<Rows, Vectors>(b, sums...), sums...);
    FOVEA_UNROLL for (int r = 0; r < Rows; ++r) FOVEA_UNROLL for (int v = 0; v < Vectors; ++v)
        to[r * Vectors + v] = c[r][v];
}

/// `rows` < 2 * Rows rows: tiles of Rows, then of fewer.
template <int Rows, int Vectors, class B, class... Sums>
inline void product_rows(floats* to, i64 rows, const float* a, i64 row, const B* b, Sums... sums) {
    for (; rows >= Rows; rows -= Rows, a += Rows * row, to += Rows * Vectors)
        product_tile<Rows, Vectors>(to, a, row, b, sums...);
    if constexpr (Rows > 1)
        if (rows > 0) product_rows<next_fewer(Rows), Vectors>(to, rows, a, row, b, sums...);
}

/// What the tiles of a panel fetch, of Rows x Vectors each. Most fetch the rows of a after theirs.
struct NextRows {
    template <int Rows, int Vectors>
    FOVEA_INLINE Lines of_tile(i64 /*left*/, const float* next_rows) const {
        return {next_rows, Rows};
    }
};
/// The last ones fetch the panel after this one, a column of lines each; its steps are `step`
/// elements apart.
struct NextPanel {
    const float* data;
    i64 step;
    template <int Rows, int Vectors>
    FOVEA_INLINE Lines of_tile(i64 left, const float* next_rows) const {
        const i64 tiles = left / Rows;
        return tiles <= Vectors ? Lines{data + kLanes * (Vectors - tiles), step}
                                : Lines{next_rows, Rows};
    }
};
/// Where all is near, or a sum too short.
struct NothingNext {
    template <int, int>
    FOVEA_INLINE NoLines of_tile(i64, const float*) const {
        return {};
    }
};

/// What the next tile adds to, a line at each step.
template <int Vectors>
struct SumLines {
    const float* at;
    i64 row;
    i64 vector = 0;
    FOVEA_INLINE void fetch() {
        __builtin_prefetch(at + kLanes * vector, 1, 2);
        if (++vector < Vectors) return;
        vector = 0;
        at += row;
    }
};
struct NextSums {
    const float* column;
    i64 row, end;  // the row behind those of the panel
    template <int Rows, int Vectors>
    FOVEA_INLINE SumLines<Vectors> of_tile(i64 left, const float* /*next_rows*/) const {
        return {column + (end - left + Rows) * row, row};
    }
};
template <class Finish>
FOVEA_INLINE NothingNext next_sums(const Panel&, const Finish&) {
    return {};
}
FOVEA_INLINE NextSums next_sums(const Panel& panel, const AddProduct& finish) {
    return {finish.before + panel.column, finish.row, panel.row + panel.rows};
}

/// All rows of a panel: whole tiles in registers, `tile` elements of a apart, then the rest by way
/// of memory.
template <int Rows, int Vectors, class Stride, class B, class Finish, class Next, class... Sums>
FOVEA_INLINE void contract_rows(i64 i, i64 rows, i64 j, const Lanes (&lanes)[Vectors],
                                const float* a, Stride row, i64 tile, const B* b,
                                const Finish& finish, Next next, Sums... sums) {
    for (; rows >= Rows; i += Rows, rows -= Rows, a += tile)
        contract_tile<Rows, Vectors>(i, j, lanes, a, row, b, finish,
                                     next.template of_tile<Rows, Vectors>(rows, a + tile), sums...);
    if (rows == 0) return;
    floats rest[(Rows - 1) * Vectors] = {};
    product_rows<next_fewer(Rows), Vectors>(rest, rows, a, i64(row), b,
                                            Sum{i64(sums.extent), i64(sums.a), i64(sums.b)}...);
#pragma GCC unroll 1
    for (i64 r = 0; r < rows; ++r)
#pragma GCC unroll 1
        for (int v = 0; v < Vectors; ++v)
            if (lanes[v].count > 0) finish(i + r, j + kLanes * v, lanes[v], rest[r * Vectors + v]);
}

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
    constexpr i64 kCopying = Rows * Vectors;  // rows of the tiles that copy a panel
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
    const CopyByTiles<Vectors, kLanes> next_panel{
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
        if (copies) run(kCopying, next_panel);
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
    constexpr int kRows = tile_rows(Rows), kVectors = tile_vectors(Vectors);
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
