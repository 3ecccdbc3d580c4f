// Dropout's factors for a whole tile: the draws of dropout.h, each used for all that it gives.
#pragma once

#include "dropout.h"
#include "tile.h"

namespace fovea::cpu::inline FOVEA_ISA {

// A draw is ten rounds in a chain. With many registers, several chains run side by side: vectors of
// eight counters, twice as many, four times as many.

/// Where a vector of counters differs from part to part: make(0), make(1), … for Longs<8>.
template <class V, class Make>
FOVEA_INLINE V counters(const Make& make, i64 part = 0) {
    if constexpr (std::is_same_v<V, Longs<8>>) return make(part);
    else
        return {
            counters<decltype(V::low)>(make, part),
            counters<decltype(V::high)>(make, part + i64(sizeof(V::low)) / i64(sizeof(Longs<8>)))};
}

/// The factors of 16 rows, one a lane, at columns column to column + 3, or to column + 7 for
/// Twice<LanePairs>, a register's width apart.
template <class V>
FOVEA_INLINE void draw_columns(float* to, i64 width, const DropoutKey& key,
                               const PhiloxRow<LanePairs>& rows, i64 column, float p) {
    const auto store_four = [&](float* at, auto a, auto b, auto c, auto d) FOVEA_LAMBDA {
        store(at, dropout_factors(lanes_of_pairs(a), p));
        store(at + width, dropout_factors(lanes_of_pairs(b), p));
        store(at + 2 * width, dropout_factors(lanes_of_pairs(c), p));
        store(at + 3 * width, dropout_factors(lanes_of_pairs(d), p));
    };
    const auto group = [&](i64 part) FOVEA_LAMBDA {
        return philox_group(key, splat_as<Longs<8>>(std::uint64_t(column / 4 + part / 2)));
    };
    V a, b, c, d;
    if constexpr (std::is_same_v<V, LanePairs>) {
        philox_grid(key, rows, counters<V>(group), a, b, c, d);
        store_four(to, a, b, c, d);
    } else {
        const PhiloxRow<V> both{{rows.b, rows.b}, {rows.d, rows.d}, {rows.from_c, rows.from_c}};
        philox_grid(key, both, counters<V>(group), a, b, c, d);
        store_four(to, a.low, b.low, c.low, d.low);
        store_four(to + 4 * width, a.high, b.high, c.high, d.high);
    }
}

/// to[i, lane] = the factor at (row + lane, column + i), for `columns` rows of `width` elements,
/// rounded up to a multiple of 4, and `lanes` lanes; `column` is a multiple of 4.
inline void dropout_columns(float* to, i64 width, i64 columns, i64 lanes, const DropoutKey& key,
                            DropoutSite site, float p, i64 row, i64 column) {
    for (i64 lane = 0; lane < lanes; lane += kLanes) {
        const auto rows = philox_row(key, site, lane_pairs(words(iota(row + lane))));
        i64 i = 0;
        if constexpr (kRegisterVectors >= 32)
            for (; i + 4 < columns; i += 8)
                draw_columns<Twice<LanePairs>>(to + i * width + lane, width, key, rows, column + i,
                                               p);
        for (; i < columns; i += 4)
            draw_columns<LanePairs>(to + i * width + lane, width, key, rows, column + i, p);
    }
}

/// Two rows in each part of a vector: their words are neighbours until they are taken apart here.
template <class V>
FOVEA_INLINE void store_rows_of_pairs(float* to, i64 width, V first, V second, float p) {
    if constexpr (std::is_same_v<V, Longs<8>>) {
        store(to, dropout_factors(words(even_longs(first, second)), p));
        store(to + width, dropout_factors(words(odd_longs(first, second)), p));
    } else {
        constexpr i64 kRows = 2 * sizeof(V::low) / sizeof(Longs<8>);
        store_rows_of_pairs(to, width, first.low, second.low, p);
        store_rows_of_pairs(to + kRows * width, width, first.high, second.high, p);
    }
}
template <class V>
FOVEA_INLINE void draw_rows(float* to, i64 width, i64 lanes, const DropoutKey& key,
                            DropoutSite site, float p, i64 row, i64 column) {
    constexpr std::uint64_t kRows[] = {0, 1, 0, 1, 0, 1, 0, 1},
                            kGroups[] = {0, 0, 1, 1, 2, 2, 3, 3};
    const auto rows =
        philox_row(key, site, counters<V>([&](i64 part) FOVEA_LAMBDA {
                       return load_as<Longs<8>>(kRows) + std::uint64_t(row + 2 * part);
                   }));
    for (i64 lane = 0; lane < lanes; lane += kLanes) {
        const auto first = std::uint64_t((column + lane) / 4);
        const auto group = philox_group(key, load_as<Longs<8>>(kGroups) + first);
        V a, b, c, d;
        philox_grid(key, rows, counters<V>([&](i64) FOVEA_LAMBDA { return group; }), a, b, c, d);
        store_rows_of_pairs(to + lane, width, join_words(a, b), join_words(c, d), p);
    }
}

/// to[i, lane] = the factor at (row + i, column + lane), for `rows` rows of `width` elements,
/// rounded up to a multiple of 2, and `lanes` lanes; `column` is a multiple of 4.
inline void dropout_rows(float* to, i64 width, i64 rows, i64 lanes, const DropoutKey& key,
                         DropoutSite site, float p, i64 row, i64 column) {
    i64 i = 0;
    if constexpr (kRegisterVectors >= 32)
        for (; i + 6 < rows; i += 8)
            draw_rows<Twice<Twice<Longs<8>>>>(to + i * width, width, lanes, key, site, p, row + i,
                                              column);
    for (; i < rows; i += 2)
        draw_rows<Longs<8>>(to + i * width, width, lanes, key, site, p, row + i, column);
}

/// to[i, lane] = the factor at (row + i * row_step, column + i * column_step), moved on by
/// lane_row_step and lane_column_step per lane.
FOVEA_INLINE void dropout_tile(float* to, i64 width, i64 rows, i64 lanes, const DropoutKey& key,
                               DropoutSite site, float p, i64 row, i64 column, i64 row_step,
                               i64 column_step, i64 lane_row_step, i64 lane_column_step) {
    for (i64 i = 0; i < rows; ++i)
        for (i64 lane = 0; lane < lanes; lane += kLanes)
            store(to + i * width + lane,
                  dropout_lanes(key, site, p, row + i * row_step + lane * lane_row_step,
                                column + i * column_step + lane * lane_column_step, lane_row_step,
                                lane_column_step));
}

}  // namespace fovea::cpu::inline FOVEA_ISA
