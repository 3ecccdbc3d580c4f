// Operands of sums in tiles of kernels in bfloat16: two steps of a sum lie side by side, which
// machines with AVX512_BF16 multiply at once. On others they are floats, a step at a time.
#pragma once

#include "matrix_tiles.h"
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
            rights[v] = in_register(load_pairs(right(lane + kLanes * v, pair)));
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

#if defined(__AMX_BF16__)
    static constexpr i64 kLeastSteps = kMatrixSteps / 4;

    /// A block by tiles of 16 rows and up to 64 lanes: finish(row, lane, sum) gets start(row, lane)
    /// with the products of the steps, which are pairs. Groups of kMatrixSteps begin where the
    /// tile's steps do, whichever of them are asked for, and those that are not are zeros, so that
    /// bits do not depend on the block. A few rows alone are tiles of so many.
    template <class Start, class Finish, class Ahead>
    void sum_block(const TileBlock& block, StepRange pairs, const Start& start,
                   const Finish& finish, const Ahead& ahead) const {
        const i64 all = block.row_end - block.row;
        if (all <= 0) return;  // there are no tiles without rows
        const bool are_few = all < kMatrixRows;
        MatrixShapes::set(int(are_few ? all : kMatrixRows), int(kMatrixRows));
        for (i64 row = block.row; row < block.row_end; row += kMatrixRows) {
            const MatrixBlock rows{row, minimum(block.row_end - row, kMatrixRows),
                                   are_few ? all : kMatrixRows};
            i64 lane = block.lane;
            if (lane == 0)
                for (i64 r = 0; r < rows.count; ++r) ahead(row + r);
            for (; !are_few && lane + 3 * kLanes < block.lane_end; lane += 4 * kLanes)
                sum_tiles<4>(rows, lane, pairs, start, finish);
            for (; lane + kLanes < block.lane_end; lane += 2 * kLanes)
                sum_tiles<2>(rows, lane, pairs, start, finish);
            if (lane < block.lane_end) sum_tiles<1>(rows, lane, pairs, start, finish);
        }
    }

  private:
    static constexpr i64 kPairs = kMatrixSteps / 2;  // of a group

    /// The rows of tiles, of which the first `count` are the block's.
    struct MatrixBlock {
        i64 row, count, of_tiles;
    };

    template <int Vectors, class Start, class Finish>
    void sum_tiles(const MatrixBlock& rows, i64 lane, StepRange pairs, const Start& start,
                   const Finish& finish) const {
        constexpr i64 kLine = kLanes * Vectors;
        constexpr bool kFromZero = std::is_same_v<Start, FromZero>;
        alignas(64) float sums[kMatrixRows * kLine];
        alignas(64) bf16 some_rows[kMatrixRows * kMatrixSteps], some_columns[2 * kPairs * kLine];
        const auto for_sums_of_rows = [&](const auto& body) FOVEA_LAMBDA {
#pragma GCC unroll 1
            for (i64 r = 0; r < rows.count; ++r)
                FOVEA_UNROLL for (int v = 0; v < Vectors; ++v)
                    body(rows.row + r, lane + kLanes * v, sums + r * kLine + kLanes * v);
        };
        if constexpr (!kFromZero)
            for_sums_of_rows([&](i64 row, i64 x, float* sum)
                                 FOVEA_LAMBDA { store(sum, floats(start(row, x))); });
        begin_matrix_sums<Vectors>(kFromZero ? nullptr : sums);
        for (i64 pair = pairs.first / kPairs * kPairs; pair < pairs.last; pair += kPairs) {
            const StepRange own{maximum(pairs.first - pair, i64(0)),
                                minimum(pairs.last - pair, kPairs)};
            add_matrix_group<Vectors>(rows_of_group(some_rows, rows, pair, own),
                                      columns_of_group<Vectors>(some_columns, lane, pair, own));
        }
        end_matrix_sums<Vectors>(sums);
        for_sums_of_rows([&](i64 row, i64 x, const float* sum)
                             FOVEA_LAMBDA { finish(row, x, load(sum)); });
    }

    /// The rows of a group of pairs, of which these are asked for: where they lie, or in `memory`.
    FOVEA_INLINE MatrixRows rows_of_group(bf16* memory, const MatrixBlock& rows, i64 pair,
                                          StepRange own) const {
        const bf16* const first = left(rows.row, pair);
        const MatrixRows in_memory{memory, kMatrixSteps, nullptr};
        if (left(rows.row, pair + 1) - first == 2) {
            const i64 stride = left(rows.row + 1, pair) - first;
            if (rows.count == rows.of_tiles && own.first == 0 && own.last == kPairs)
                return {first, stride, nullptr};
            for (i64 r = 0; r < rows.of_tiles; ++r) {
                store_as(memory + r * kMatrixSteps, words{});
                if (r < rows.count)
                    std::memcpy(memory + r * kMatrixSteps + 2 * own.first,
                                first + r * stride + 2 * own.first,
                                std::size_t(own.last - own.first) * 2 * sizeof(bf16));
            }
            return in_memory;
        }
        words square[kLanes];
        FOVEA_UNROLL for (i64 p = 0; p < kPairs; ++p) square[p] =
            own.first <= p && p < own.last ? load_as<words>(left(rows.row, pair + p)) : words{};
        transpose(square);
        FOVEA_UNROLL for (i64 r = 0; r < kMatrixRows; ++r)
            store_as(memory + r * kMatrixSteps, square[r]);
        return in_memory;
    }
    /// Its columns, likewise.
    template <int Vectors>
    FOVEA_INLINE MatrixColumns columns_of_group(bf16* memory, i64 lane, i64 pair,
                                                StepRange own) const {
        if (own.first == 0 && own.last == kPairs)
            return {right(lane, pair), right(lane, pair + 1) - right(lane, pair), nullptr};
        for (i64 p = 0; p < kPairs; ++p)
            FOVEA_UNROLL for (int v = 0; v < Vectors; ++v) store_as(
                memory + 2 * kLanes * (p * Vectors + v),
                own.first <= p && p < own.last ? load_as<words>(right(lane + kLanes * v, pair + p))
                                               : words{});
        return {memory, 2 * kLanes * Vectors, nullptr};
    }
#endif
};
#if defined(__AMX_BF16__)
template <class Left, class Right>
inline constexpr bool kSumsBlocks<PairProducts<Left, Right>> = true;
#endif
template <class Left, class Right>
FOVEA_INLINE PairProducts<Left, Right> pair_products(const Left& left, const Right& right) {
    return {left, right};
}
template <class Left, class Right>
inline constexpr bool kIsProducts<PairProducts<Left, Right>> = true;

}  // namespace fovea::cpu::inline FOVEA_ISA
