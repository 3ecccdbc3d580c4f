// Contractions y[i, j] = sum over k of a[i, k] * b[j, k], where b is a weight of whole numbers with
// scales: they become floats in registers, or pairs of bfloat16 for rows of these, or they meet
// rows of whole numbers (digits.h), and of each group the sum is multiplied with its scale.
//
// Few rows read the numbers for each row, so that as many bytes come from memory as they take. For
// more rows, the numbers of a panel are expanded once. Every element adds the same numbers in the
// same order either way, or numbers whose sums are whole.
#pragma once

#include "digit_products.h"
#include "matrix_products.h"

namespace fovea::cpu::inline FOVEA_ISA {

/// All rows of a panel, in tiles of Rows, then of fewer.
template <int Bits, int Group, int Rows, class ARows, class Finish>
FOVEA_INLINE void finish_rows(const Panel& panel, i64 row, i64 rows, const Lanes& lanes,
                              const ARows& a, const std::uint32_t* b, const Finish& finish) {
    const i64 end = row + rows;
    for (; row + Rows <= end; row += Rows) {
        floats totals[Rows][1];
        product_of_rows<Bits, Group, Rows>(&totals[0][0], a.row(row), a.length(), a.of_panel, b,
                                           a.layout());
        finish_tile(row, panel.column, {lanes}, totals, finish);
    }
    if constexpr (Rows > 1)
        if (row < end)
            finish_rows<Bits, Group, next_fewer(Rows)>(panel, row, end - row, lanes, a, b, finish);
}

#if defined(__AMX_BF16__)

/// All rows of a panel, by tiles.
template <int Group, class ARows, class Finish>
FOVEA_INLINE void finish_rows_by_tiles(const Panel& panel, const Lanes& lanes, const ARows& a,
                                       const std::uint32_t* b, const Finish& finish) {
    const i64 end = panel.row + panel.rows;
#pragma GCC unroll 1
    for (i64 row = panel.row; row < end; row += kMatrixRows) {
        const i64 rows = end - row < kMatrixRows ? end - row : kMatrixRows;
        floats totals[kMatrixRows];
        take_matrix_rows(rows);
        const auto multiply = rows == kMatrixRows ? matrix_product_of_rows<Group, true>
                                                  : matrix_product_of_rows<Group, false>;
        multiply(totals, rows, a.row(row).values, a.length(), a.of_panel, b, a.layout());
#pragma GCC unroll 1
        for (i64 r = 0; r < rows; ++r) finish(row + r, panel.column, lanes, totals[r]);
    }
}

#endif

/// One panel of such a contraction: its 16 columns are rows `panel.column` and on of the weight.
/// `a` has taken the panel, or the one that this is some rows of.
template <int Rows, int Bits, int Group, i64 Depth, class ARows, class Finish>
FOVEA_INLINE void contract_quantized(const Panel& panel, const ARows& a,
                                     Weights<Bits, Group, Depth> b, const Finish& finish) {
    const Lanes lanes[1] = {lanes_at(0, panel.columns)};
    const std::uint32_t* numbers = b.words + panel.column / kLanes * a.layout().words_of_panel();
    if (!a.are_few()) {
        if constexpr (ARows::kInDigits)
            expand_parts<typename ARows::Value, Bits, Group>(a.of_panel, numbers, a.layout());
        else expand_panel<Bits, Group>(a.of_panel, numbers, a.layout());
#if defined(__AMX_BF16__)
        if constexpr (ARows::kByTiles)
            return finish_rows_by_tiles<Group>(panel, lanes[0], a, numbers, finish);
#endif
        return finish_rows<Bits, Group, tile_rows(Rows, 1)>(panel, panel.row, panel.rows, lanes[0],
                                                            a, numbers, finish);
    }
    for (i64 row = panel.row; row < panel.row + panel.rows; ++row) {
        const auto few = a.few_row(row);
        floats total[1][1];
        if constexpr (ARows::kByTiles)
            total[0][0] = product_as_by_tiles<Bits, Group>(few.values, numbers, a.layout());
        else total[0][0] = product_of_row<Bits, Group>(few, numbers, a.layout());
        finish_tile(row, panel.column, lanes, total, finish);
    }
}

}  // namespace fovea::cpu::inline FOVEA_ISA
