// Tiles of memory that are turned on their way in: rows become columns.
#pragma once

#include <type_traits>

#include "half_vector.h"
#include "vector.h"

namespace fovea::cpu::inline FOVEA_ISA {

inline constexpr i64 kTileRows = 64;  // of the tiles that loops over keys and queries take

/// Fetches what a tile further lies in the places of these 16 rows, a cache line of each.
template <class T, class Stride>
FOVEA_INLINE void fetch_next_tile(const T* from, Stride stride) {
    for (i64 i = 0; i < kLanes; ++i) __builtin_prefetch(from + (kTileRows + i) * stride);
}

#if defined(__AVX512F__)
/// The columns of rows of 8 floats: half the work of turning rows of 16.
template <class Stride, class Body>
FOVEA_INLINE void for_narrow_columns(i64 row, i64 rows, const float* from, Stride stride,
                                     const Body& body) {
    for (; row < rows; row += kLanes) {
        floats8 narrow[kLanes];
        FOVEA_UNROLL for (i64 i = 0; i < kLanes; ++i) narrow[i] =
            row + i < rows ? load8(from + (row + i) * stride) : floats8{};
        floats columns[8];
        transpose(narrow, columns);
        FOVEA_UNROLL for (i64 i = 0; i < 8; ++i) body(i, row, columns[i]);
    }
}
#endif

#if defined(__AVX512F__)
/// The columns of 16 rows of a tile, four at a time; the same rows of the next tile are fetched.
template <class Width, class Stride, class Body>
FOVEA_INLINE void for_whole_columns(i64 row, Width columns, const float* from, Stride stride,
                                    const Body& body) {
    for (i64 column = 0; column < columns; column += 4) {
        if (column % kLanes == 0) fetch_next_tile(from + row * stride + column, stride);
        floats groups[4], four[4];
        FOVEA_UNROLL for (i64 i = 0; i < 4; ++i) {
            groups[i] = load_group(from + (row + i) * stride + column, 4 * stride);
        }
        columns_of_groups(groups, four);
        FOVEA_UNROLL for (i64 i = 0; i < 4; ++i) body(column + i, row, four[i]);
    }
}
#endif

/// Turns rows of memory into columns: body(column, row, x) gets the elements of 16 rows in a column
/// at a time, booleans as 0 and 1; rows past the end are 0. `stride` elements lie between rows.
template <class Width, class T, class Stride, class Body>
FOVEA_INLINE void for_columns(i64 rows, Width columns, const T* from, Stride stride,
                              const Body& body) {
    const auto load_row = [&](i64 row, i64 column, Lanes lanes) FOVEA_LAMBDA {
        const auto values = load(from + row * stride + column, lanes);
        if constexpr (std::is_same_v<T, bool>) return mask_to_floats(values);
        else return values;
    };
    i64 row = 0;
#if defined(__AVX512F__)
    if constexpr (kKnown<Width> > 0 && kKnown<Width> % 4 == 0 && std::is_same_v<T, float>)
        for (; row + kLanes <= rows; row += kLanes)
            for_whole_columns(row, columns, from, stride, body);
    if constexpr (kKnown<Width> == 8 && std::is_same_v<T, float>)
        return for_narrow_columns(row, rows, from, stride, body);
#endif
    for (; row < rows; row += kLanes)
        for (i64 column = 0; column < columns; column += kLanes) {
            const Lanes lanes = lanes_at(column, columns);
            fetch_next_tile(from + row * stride + column, stride);
            floats square[kLanes];
            FOVEA_UNROLL for (i64 i = 0; i < kLanes; ++i) square[i] =
                row + i < rows ? load_row(row + i, column, lanes) : floats{};
            transpose(square);
            FOVEA_UNROLL for (i64 i = 0; i < kLanes; ++i) if (i < lanes.count)
                body(column + i, row, square[i]);
        }
}

}  // namespace fovea::cpu::inline FOVEA_ISA
