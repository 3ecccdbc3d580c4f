// Contractions of bfloat16 by an instruction that multiplies whole tiles (Intel AMX): 16 rows of 32
// steps with 32 steps of 16 columns, added to 16 x 16 sums.
//
// The 32 steps of an instruction add up first, the even ones apart from the odd ones. So the bits
// differ from those of other instruction sets, but not with the place of an element in its tile,
// nor with the number of rows: a kernel takes such tiles for all of its products.
#pragma once

#include "matrix_shapes.h"
#include "pack_pairs.h"

namespace fovea::cpu::inline FOVEA_ISA {

#if defined(__AMX_BF16__)
inline constexpr bool kHasMatrixTiles = true;
#else
inline constexpr bool kHasMatrixTiles = false;
#endif

/// Rows and columns of a tile of sums, and the steps that an instruction multiplies.
inline constexpr i64 kMatrixRows = 16, kMatrixSteps = 32;
/// Rows of the sums that are on their way at a time, in two tiles.
inline constexpr i64 kMatrixBlock = 2 * kMatrixRows;

/// Whether sums of so many steps are taken by tiles: not where they are known to be fewer than a
/// tile has.
template <class... Sums>
constexpr bool takes_matrix_tiles() {
    if constexpr (!kHasMatrixTiles) return false;
    else
        return ((kKnown<decltype(Sums::extent)> == 0) || ...) ||
               (kKnown<decltype(Sums::extent)> * ... * i64(1)) >= kMatrixSteps;
}

/// Rows [row, step] of bfloat16, `stride` elements apart: whole groups of kMatrixSteps, and the
/// steps behind them, if any, with zeros up to such a group in `rest`, [kMatrixBlock,
/// kMatrixSteps].
struct MatrixRows {
    const bf16* data;
    i64 stride;
    const bf16* rest;
};
/// Columns [pair, column, 2], `stride` elements from pair to pair; the pairs behind the whole
/// groups with zeros in `rest`, [kMatrixSteps / 2, 16 * Vectors, 2].
struct MatrixColumns {
    const bf16* data;
    i64 stride;
    const bf16* rest;
};

/// Pairs of columns that are taken after these: some are fetched with each group of steps, so that
/// they are in the second cache when it is their turn.
struct NextColumns {
    const bf16* data;
    i64 stride, pairs, at_once;

    template <int Vectors>
    FOVEA_INLINE void fetch() {
        for (i64 i = 0; i < at_once && pairs > 0; ++i, --pairs, data += stride)
            FOVEA_UNROLL for (int v = 0; v < Vectors; ++v)
                __builtin_prefetch(data + 2 * kLanes * v, 0, 2);
    }
};

#if defined(__AMX_BF16__)

/// Sets the shapes for sums of two tiles of rows by two of columns (0 to 3), rows (4, 5), columns
/// (6, 7), of 1 to kMatrixBlock rows. A second tile without rows is not used.
FOVEA_INLINE void take_matrix_rows(i64 rows) {
    MatrixShapes::set(int(rows < kMatrixRows ? rows : kMatrixRows),
                      int(rows > kMatrixRows ? rows - kMatrixRows : kMatrixRows));
}

/// Adds the products of one group of steps to the sums of one tile of rows, or of two.
template <int Tiles, int Vectors>
FOVEA_INLINE void add_matrix_products(const bf16* a, i64 row_bytes, const bf16* b, i64 pair_bytes) {
    _tile_loadd(6, b, pair_bytes);
    _tile_loadd(4, a, row_bytes);
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (Tiles == 2) {
        _tile_loadd(5, a + kMatrixRows * row_bytes / i64(sizeof(bf16)), row_bytes);
        _tile_dpbf16ps(2, 5, 6);
    }
    if constexpr (Vectors == 2) {
        _tile_loadd(7, b + 2 * kLanes, pair_bytes);
        _tile_dpbf16ps(1, 4, 7);
        if constexpr (Tiles == 2) _tile_dpbf16ps(3, 5, 7);
    }
}

/// The lines of b that come some groups later: a tile of few rows waits for memory.
template <int Vectors>
FOVEA_INLINE void fetch_matrix_columns(const bf16* b, i64 stride) {
    constexpr i64 kGroups = 4;
    for (i64 pair = 0; pair < kMatrixSteps / 2; ++pair)
        FOVEA_UNROLL for (int v = 0; v < Vectors; ++v)
            __builtin_prefetch(b + (kGroups * kMatrixSteps / 2 + pair) * stride + 2 * kLanes * v);
}

/// The sums of some rows, in one tile or two, to `to`, [rows, 16 * Vectors]: one copy of the code
/// serves every kernel.
template <int Tiles, int Vectors>
FOVEA_SHARED __attribute__((noinline)) void matrix_products(float* to, MatrixRows a,
                                                            MatrixColumns b, i64 groups,
                                                            NextColumns& next) {
    constexpr i64 kBytes = sizeof(bf16), kLine = kLanes * Vectors;
    asm volatile("" : : : "memory");  // g++ 12's loads of tiles do not say that they read memory
    _tile_zero(0);
    if constexpr (Vectors == 2) _tile_zero(1);
    if constexpr (Tiles == 2) _tile_zero(2);
    if constexpr (Tiles == 2 && Vectors == 2) _tile_zero(3);
    for (i64 group = 0; group < groups; ++group) {
        if constexpr (Tiles == 1) fetch_matrix_columns<Vectors>(b.data, b.stride);
        else next.fetch<Vectors>();
        add_matrix_products<Tiles, Vectors>(a.data, a.stride * kBytes, b.data, b.stride * kBytes);
        a.data += kMatrixSteps;
        b.data += kMatrixSteps / 2 * b.stride;
    }
    if (b.rest)
        add_matrix_products<Tiles, Vectors>(a.rest, kMatrixSteps * kBytes, b.rest,
                                            2 * kLine * kBytes);
    constexpr i64 kRow = kLine * i64(sizeof(float));
    _tile_stored(0, to, kRow);
    if constexpr (Vectors == 2) _tile_stored(1, to + kLanes, kRow);
    if constexpr (Tiles == 2) _tile_stored(2, to + kMatrixRows * kLine, kRow);
    if constexpr (Tiles == 2 && Vectors == 2)
        _tile_stored(3, to + kMatrixRows * kLine + kLanes, kRow);
}

/// Sums of 16 rows in up to four tiles, [16, 16 * Vectors] in memory: they begin with `sums`, or
/// with zeros where it is null; the products of groups are added; they end in memory.
template <int Vectors>
FOVEA_INLINE void begin_matrix_sums(const float* sums) {
    constexpr i64 kRow = kLanes * Vectors * i64(sizeof(float));
    if (sums == nullptr) {
        _tile_zero(0);
        if constexpr (Vectors > 1) _tile_zero(1);
        if constexpr (Vectors > 2) {
            _tile_zero(2);
            _tile_zero(3);
        }
        return;
    }
    asm volatile("" : : : "memory");
    _tile_loadd(0, sums, kRow);
    if constexpr (Vectors > 1) _tile_loadd(1, sums + kLanes, kRow);
    if constexpr (Vectors > 2) {
        _tile_loadd(2, sums + 2 * kLanes, kRow);
        _tile_loadd(3, sums + 3 * kLanes, kRow);
    }
}
template <int Vectors>
FOVEA_INLINE void add_matrix_group(MatrixRows a, MatrixColumns b) {
    constexpr i64 kBytes = sizeof(bf16);
    asm volatile("" : : : "memory");
    _tile_loadd(4, a.data, a.stride * kBytes);
    _tile_loadd(6, b.data, b.stride * kBytes);
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (Vectors > 1) {
        _tile_loadd(7, b.data + 2 * kLanes, b.stride * kBytes);
        _tile_dpbf16ps(1, 4, 7);
    }
    if constexpr (Vectors > 2) {
        _tile_loadd(6, b.data + 4 * kLanes, b.stride * kBytes);
        _tile_dpbf16ps(2, 4, 6);
        _tile_loadd(7, b.data + 6 * kLanes, b.stride * kBytes);
        _tile_dpbf16ps(3, 4, 7);
    }
}
template <int Vectors>
FOVEA_INLINE void end_matrix_sums(float* sums) {
    constexpr i64 kRow = kLanes * Vectors * i64(sizeof(float));
    _tile_stored(0, sums, kRow);
    if constexpr (Vectors > 1) _tile_stored(1, sums + kLanes, kRow);
    if constexpr (Vectors > 2) {
        _tile_stored(2, sums + 2 * kLanes, kRow);
        _tile_stored(3, sums + 3 * kLanes, kRow);
    }
}

#else

FOVEA_INLINE void take_matrix_rows(i64 /*rows*/) {}
template <int Tiles, int Vectors>
void matrix_products(float* to, MatrixRows a, MatrixColumns b, i64 groups, NextColumns& next);

#endif

/// Steps up to whole groups.
constexpr i64 whole_groups(i64 steps) {
    return (steps + kMatrixSteps - 1) / kMatrixSteps * kMatrixSteps;
}

/// The last steps of rows of a, `stride` apart, with zeros behind them.
inline void copy_last_steps(bf16* to, const bf16* a, i64 stride, i64 rows, i64 steps) {
    for (i64 row = 0; row < rows; ++row)
        store_as(to + row * kMatrixSteps, words_along(a + row * stride, steps));
}
/// The last pairs of columns, `stride` apart, with zeros behind them.
template <int Vectors>
inline void copy_last_pairs(bf16* to, const bf16* b, i64 stride, i64 pairs) {
    for (i64 pair = 0; pair < kMatrixSteps / 2; ++pair)
        FOVEA_UNROLL for (int v = 0; v < Vectors; ++v) {
            bf16* const line = to + 2 * kLanes * (pair * Vectors + v);
            store_as(line,
                     pair < pairs ? load_as<words>(b + pair * stride + 2 * kLanes * v) : words{});
        }
}

/// Rows of a whose steps are no neighbours, as [row, `length`], with zeros behind the steps.
template <class T, class Stride, class... Axes>
inline void pack_matrix_rows(bf16* to, i64 length, const T* a, Stride row, i64 rows,
                             Axes... steps) {
    constexpr i64 kSquares = 2;  // of 16 rows each, so that a line of a is read once
    for (i64 i = 0; i < rows; i += kSquares * kLanes, to += kSquares * kLanes * length) {
        words squares[kSquares][kLanes];
        i64 pairs = 0;
        const auto write = [&](i64 count) FOVEA_LAMBDA {
            for (i64 s = 0; s < kSquares; ++s) {
                for (i64 pair = count; pair < kLanes; ++pair) squares[s][pair] = words{};
                transpose(squares[s]);
                for (i64 r = 0; r < kLanes && i + s * kLanes + r < rows; ++r)
                    store_as(to + (s * kLanes + r) * length + 2 * (pairs - count), squares[s][r]);
            }
        };
        const auto read = [&](const T* first, const T* second) FOVEA_LAMBDA {
            for (i64 s = 0; s < kSquares; ++s) {
                const Lanes lanes = lanes_at(i + s * kLanes, rows);
                squares[s][pairs % kLanes] =
                    lanes.count > 0
                        ? pairs_of(first + s * kLanes * row,
                                   second ? second + s * kLanes * row : nullptr, row, lanes)
                        : words{};
            }
            if (++pairs % kLanes == 0) write(kLanes);
        };
        for_each_pair(a + i * row, read, steps...);
        if (pairs % kLanes > 0) write(pairs % kLanes);
    }
}

/// Rows of a panel; pairs of columns lie `stride` elements apart. `has_zeros`: rows have zeros
/// behind their steps, up to a whole group. `next_panel`: what comes after this one, or null.
template <int Vectors, class Finish>
FOVEA_INLINE void contract_matrix_rows(i64 i, i64 rows, i64 j, const Lanes (&lanes)[Vectors],
                                       const bf16* a, i64 row, const bf16* b, i64 stride,
                                       const bf16* next_panel, i64 steps, bool has_zeros,
                                       const Finish& finish) {
    constexpr int kColumnTiles = Vectors % 2 == 0 ? 2 : 1;
    const i64 groups = steps / kMatrixSteps, last = steps % kMatrixSteps;
    const i64 blocks = (rows + kMatrixBlock - 1) / kMatrixBlock;
    alignas(64) bf16 last_columns[kMatrixSteps * kLanes * kColumnTiles];
    alignas(64) bf16 last_rows[kMatrixBlock * kMatrixSteps];
    alignas(64) float sums[kMatrixBlock * kLanes * kColumnTiles];
#pragma GCC unroll 1
    for (int v = 0; v < Vectors; v += kColumnTiles) {
        MatrixColumns columns{b + 2 * kLanes * v, stride, nullptr};
        if (last > 0) {
            copy_last_pairs<kColumnTiles>(last_columns,
                                          columns.data + groups * kMatrixSteps / 2 * stride, stride,
                                          (last + 1) / 2);
            columns.rest = last_columns;
        }
        const bf16* const following =
            v + kColumnTiles < Vectors ? columns.data + 2 * kLanes * kColumnTiles : next_panel;
        NextColumns next{following, stride, following ? groups * kMatrixSteps / 2 : 0,
                         (kMatrixSteps / 2 + blocks - 1) / blocks};
#pragma GCC unroll 1
        for (i64 r = 0; r < rows; r += kMatrixBlock) {
            const i64 count = rows - r < kMatrixBlock ? rows - r : kMatrixBlock;
            MatrixRows of_a{a + r * row, row, nullptr};
            if (last > 0) {
                const bf16* const from = of_a.data + groups * kMatrixSteps;
                copy_last_steps(last_rows, from, row, count, has_zeros ? kMatrixSteps : last);
                of_a.rest = last_rows;
            }
            take_matrix_rows(count);
            if (count > kMatrixRows)
                matrix_products<2, kColumnTiles>(sums, of_a, columns, groups, next);
            else matrix_products<1, kColumnTiles>(sums, of_a, columns, groups, next);
#pragma GCC unroll 1
            for (i64 s = 0; s < count; ++s)
#pragma GCC unroll 1
                for (int of_two = 0; of_two < kColumnTiles; ++of_two)
                    if (lanes[v + of_two].count > 0)
                        finish(i + r + s, j + kLanes * (v + of_two), lanes[v + of_two],
                               load(sums + (s * kColumnTiles + of_two) * kLanes));
        }
    }
}

/// One panel of such a contraction.
template <int Vectors, bool Whole, class T, class Stride, class B, class Finish, class... Sums>
FOVEA_INLINE void contract_matrix_panel(const Panel& panel, HalfOperand<T, Stride> a, B b,
                                        const Finish& finish, Sums... sums) {
    constexpr int kWidth = int(kLanes) * Vectors;
    constexpr bool kAlong = lie_along<decltype(sums.a)...>();
    constexpr bool kWhereItLies = std::is_same_v<T, bf16> && kAlong;
    constexpr i64 kChunk = 8 * kMatrixBlock;
    Lanes lanes[Vectors];
    set_lanes<Whole>(lanes, panel);
    const i64 steps = steps_of(sums...), length = whole_groups(steps);
    const i64 chunk = panel.reused || kWhereItLies ? panel.rows : kChunk;
    const i64 packed_rows = panel.reused         ? panel.block_rows
                            : chunk < panel.rows ? chunk
                                                 : panel.rows;
    const i64 floats_of_a = kWhereItLies ? 0 : packed_rows * length / 2;
    constexpr bool kInPanels = kPanelWidth<B> > 0;
    const i64 floats_of_b = kInPanels ? 0 : kWidth * ((steps + 1) / 2);
    auto* const memory = floats_of_a + floats_of_b > 0
                             ? reinterpret_cast<bf16*>(scratch(floats_of_a + floats_of_b))
                             : nullptr;
    const bf16 *columns = memory + 2 * floats_of_a, *next_panel = nullptr;
    i64 stride = 2 * kWidth;
    if constexpr (kInPanels) {
        columns = b.at(panel.column);
        stride = 2 * kPanelWidth<B>;
        if (panel.next_column > 0) next_panel = b.at(panel.next_column);
    } else {
        pack_column_pairs<kWidth>(memory + 2 * floats_of_a, b.data + panel.column * b.stride,
                                  b.stride, panel.columns, Steps{sums.extent, sums.b}...);
    }
    const i64 end = panel.row + panel.rows;
    for (i64 row = panel.row; row < end; row += chunk) {
        const i64 count = end - row < chunk ? end - row : chunk;
        const i64 first = panel.reused ? panel.block_row : row;
        const i64 in_block = panel.reused ? panel.block_rows : count;
        const T* const from = a.data + first * a.stride;
        if constexpr (kWhereItLies) {
            contract_matrix_rows(row, count, panel.column, lanes, a.data + row * a.stride,
                                 i64(a.stride), columns, stride, next_panel, steps, false, finish);
        } else {
            if (panel.fresh || !panel.reused) {
                if constexpr (kAlong) round_rows(memory, length, from, a.stride, in_block, steps);
                else
                    pack_matrix_rows(memory, length, from, a.stride, in_block,
                                     Steps{sums.extent, sums.a}...);
            }
            contract_matrix_rows(row, count, panel.column, lanes,
                                 static_cast<const bf16*>(memory) + (row - first) * length, length,
                                 columns, stride, next_panel, steps, true, finish);
        }
    }
}

}  // namespace fovea::cpu::inline FOVEA_ISA
