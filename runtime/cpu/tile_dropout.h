// Dropout's factors for a whole tile: the draws of dropout.h, each used for all that it gives.
#pragma once

#include "dropout.h"
#include "tile.h"

namespace fovea::cpu::inline FOVEA_ISA {

/// to[i, lane] = the factor at (row + lane, column + i), for `columns` rows of `width` elements,
/// rounded up to a multiple of 4, and `lanes` lanes; `column` is a multiple of 4.
inline void dropout_columns(float* to, i64 width, i64 columns, i64 lanes, const DropoutKey& key,
                            int site, float p, i64 row, i64 column) {
    for (i64 i = 0; i < columns; i += 4)
        for (i64 lane = 0; lane < lanes; lane += kLanes) {
            floats factors[4];
            dropout_rows(key, site, p, row + lane, column + i, factors);
            FOVEA_UNROLL for (int j = 0; j < 4; ++j) store(to + (i + j) * width + lane, factors[j]);
        }
}

/// to[i, lane] = the factor at (row + i * row_step, column + i * column_step), moved on by
/// lane_row_step and lane_column_step per lane.
FOVEA_INLINE void dropout_tile(float* to, i64 width, i64 rows, i64 lanes, const DropoutKey& key,
                               int site, float p, i64 row, i64 column, i64 row_step,
                               i64 column_step, i64 lane_row_step, i64 lane_column_step) {
    for (i64 i = 0; i < rows; ++i)
        for (i64 lane = 0; lane < lanes; lane += kLanes)
            store(to + i * width + lane,
                  dropout_lanes(key, site, p, row + i * row_step + lane * lane_row_step,
                                column + i * column_step + lane * lane_column_step, lane_row_step,
                                lane_column_step));
}

}  // namespace fovea::cpu::inline FOVEA_ISA
