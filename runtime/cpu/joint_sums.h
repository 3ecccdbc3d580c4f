// Sums along either of two axes of terms that share what they are made of: one pass over the pairs
// computes a shared value once and adds it to the sums of its row and of its column.
//
// Every element of a sum adds the terms of steps 0, 1, 2, ... in order, whatever its block.
#pragma once

#include "vector.h"

namespace fovea::cpu::inline FOVEA_ISA {

/// Where sums are kept: the first elements of N tiles.
template <int N>
using Tiles = float* const (&&)[N];

/// The pairs of Rows rows and all columns, at one vector of lanes. Sums of the rows are in
/// registers, those of the columns stay in memory.
template <int Rows, int OfRow, int OfColumn, class Term>
FOVEA_INLINE void joint_block(i64 row, i64 columns, i64 lane, i64 width,
                              float* const (&to_rows)[OfRow], float* const (&to_columns)[OfColumn],
                              const Term& term) {
    floats of_rows[Rows][OfRow]{};
    for (i64 column = 0; column < columns; ++column) {
        const i64 at = column * width + lane;
        floats of_column[OfColumn];
        FOVEA_UNROLL for (int n = 0; n < OfColumn; ++n) of_column[n] = load(to_columns[n] + at);
        FOVEA_UNROLL for (int i = 0; i < Rows; ++i)
            term(row + i, column, lane, of_rows[i], of_column);
        FOVEA_UNROLL for (int n = 0; n < OfColumn; ++n) store(to_columns[n] + at, of_column[n]);
    }
    FOVEA_UNROLL for (int i = 0; i < Rows; ++i) FOVEA_UNROLL for (int n = 0; n < OfRow; ++n)
        store(to_rows[n] + (row + i) * width + lane, of_rows[i][n]);
}

template <int Rows, int OfRow, int OfColumn, class Term>
FOVEA_INLINE void joint_rows(i64 row, i64 rows, i64 columns, i64 lane, i64 width,
                             float* const (&to_rows)[OfRow], float* const (&to_columns)[OfColumn],
                             const Term& term) {
    for (; row + Rows <= rows; row += Rows)
        joint_block<Rows>(row, columns, lane, width, to_rows, to_columns, term);
    if constexpr (Rows > 1)
        if (row < rows)
            joint_rows<Rows / 2>(row, rows, columns, lane, width, to_rows, to_columns, term);
}

/// Fills `to_rows` with sums over the columns and `to_columns` with sums over the rows, tiles whose
/// rows are `width` elements, whole vectors: term(row, column, lane, of_row, of_column) adds to one
/// sum of each, in the order of the tiles.
template <int OfRow, int OfColumn, class Term>
FOVEA_INLINE void joint_sums(i64 rows, i64 columns, i64 width, Tiles<OfRow> to_rows,
                             Tiles<OfColumn> to_columns, const Term& term) {
    constexpr int kRows = kRegisterVectors >= 32 ? 4 : 1;
    for (float* tile : to_columns)
        for (i64 i = 0; i < columns * width; i += kLanes) store(tile + i, floats{});
    for (i64 lane = 0; lane < width; lane += kLanes)
        joint_rows<kRows>(0, rows, columns, lane, width, to_rows, to_columns, term);
}

}  // namespace fovea::cpu::inline FOVEA_ISA
