// What kernels over tiles are made of: sums in register tiles, passes over the rows of a tile, and
// tiles that are turned on their way in.
//
// A tile is an array [row, lane] whose rows are whole vectors. Every element of a sum has one
// accumulator and adds step 0, 1, 2, ... in order, whichever register tile it falls into.
#pragma once

#include <cstdint>
#include <type_traits>

#include "columns.h"
#include "contract.h"
#include "half_vector.h"
#include "math.h"
#include "vector.h"

namespace fovea::cpu::inline FOVEA_ISA {

/// Where sums begin that are not given a start.
struct Zero {
    template <class V>
    FOVEA_INLINE operator V() const {
        return V{};
    }
};
struct FromZero {
    FOVEA_INLINE Zero operator()(i64, i64) const { return {}; }
};
inline constexpr FromZero from_zero{};

/// Where maxima begin.
struct FromLowest {
    FOVEA_INLINE floats operator()(i64, i64) const { return splat(kLowest); }
};
inline constexpr FromLowest from_lowest{};

/// How many positions of a tile there are: Least to Most, as the compiler may know.
template <i64 Most, i64 Least = 1>
struct Count {
    i64 value;
    FOVEA_INLINE operator i64() const {
        if (value < Least || value > Most) __builtin_unreachable();
        return value;
    }
};
template <class T>
inline constexpr i64 kMost = kKnown<T>;  // the most that a size may be, or 0
template <i64 Most, i64 Least>
inline constexpr i64 kMost<Count<Most, Least>> = Most;

/// Whether all positions of an axis are one tile: there are some, and not too many.
template <i64 Tile>
FOVEA_INLINE bool fits_tile(Fixed<Tile>, i64 extent) {
    return 0 < extent && extent <= Tile;
}
/// The positions of an axis that is one tile, and those below a bound, which may be none.
template <i64 Tile>
FOVEA_INLINE Count<Tile> count_in_tile(Fixed<Tile>, i64 extent) {
    return {extent};
}
template <i64 Tile>
FOVEA_INLINE Count<Tile, 0> count_below(Fixed<Tile>, i64 bound) {
    return {bound};
}

/// The first position of the last tile; negative: there is none.
FOVEA_INLINE i64 last_tile(i64 extent, i64 tile) { return tiles_of(extent, tile) * tile - tile; }

/// How many of `points` tasks, each of so many pairs of a query and a key, a thread takes at a
/// time: one where they are long, more where taking one would cost as much as its work.
inline i64 tasks_at_once(i64 points, i64 pairs) {
    constexpr i64 kPairs = 16384;
    const i64 many = kPairs / (pairs + 1), fair = points / (4 * Team::part().count);
    return maximum(i64(1), minimum(many, fair));
}
/// The same where a task is one of the tiles of a point: a thread takes all of them, which read the
/// same memory, or fewer where other threads would wait for the last ones.
inline i64 tasks_at_once(i64 points, i64 pairs, i64 extent, i64 tile) {
    const i64 tiles = tiles_of(extent, tile);
    if (tiles <= 1) return tasks_at_once(points, pairs);
    return maximum(i64(1), minimum(tiles, points * tiles / (16 * Team::part().count)));
}

/// A term of a sum of products: left(row, step), a number, times right(lane, step), a vector.
template <class Left, class Right>
struct Products {
    Left left;
    Right right;

    /// Adds a step to a register tile.
    template <int Rows, int Vectors, class V>
    FOVEA_INLINE void add(V (&sums)[Rows][Vectors], i64 row, i64 lane, i64 step) const {
        V rights[Vectors];
        FOVEA_UNROLL for (int v = 0; v < Vectors; ++v) rights[v] =
            in_register(right(lane + i64(sizeof(V) / sizeof(float)) * v, step));
        FOVEA_UNROLL for (int i = 0; i < Rows; ++i) {
            const V factor = splat_as<V>(left(row + i, step));
            FOVEA_UNROLL for (int v = 0; v < Vectors; ++v) sums[i][v] =
                multiply_add(factor, rights[v], sums[i][v]);
        }
    }
};
template <class Left, class Right>
FOVEA_INLINE Products<Left, Right> products(const Left& left, const Right& right) {
    return {left, right};
}
template <class Term>
inline constexpr bool kIsProducts = false;
template <class Left, class Right>
inline constexpr bool kIsProducts<Products<Left, Right>> = true;

/// Whether a term adds the products of many rows, lanes and steps at a time, by its `sum_block`.
template <class Term>
inline constexpr bool kSumsBlocks = false;
/// Whether it does for so many steps, in vectors V: not where they are known to be few.
template <class Term, class V, class Steps>
constexpr bool sums_blocks() {
    if constexpr (!kSumsBlocks<Term> || !std::is_same_v<V, floats>) return false;
    else return kKnown<Steps> == 0 || kKnown<Steps> >= Term::kLeastSteps;
}
/// Rows and lanes of a tile.
struct TileBlock {
    i64 row, row_end, lane, lane_end;
};

/// Begins to bring `Count` elements, of memory that need not exist, to the second cache: the first
/// one is full of tiles.
template <i64 Count, class T>
FOVEA_INLINE void prefetch(const T* from, i64 offset) {
    constexpr i64 kLine = 64, kBytes = sizeof(T);
    const std::uintptr_t first = std::uintptr_t(from) + std::uintptr_t(offset * kBytes);
    FOVEA_UNROLL for (i64 at = 0; at < Count * kBytes; at += kLine)
        __builtin_prefetch(reinterpret_cast<const void*>(first + std::uintptr_t(at)), 0, 2);
}

/// What the sums of a row fetch ahead: nothing.
struct Nothing {
    FOVEA_INLINE void operator()(i64) const {}
};

/// The steps of a number of them.
FOVEA_INLINE i64 first_step(i64) { return 0; }
FOVEA_INLINE i64 last_step(i64 steps) { return steps; }
/// Steps that need not begin at 0, where a number of steps is asked for.
struct StepRange {
    i64 first, last;
};
FOVEA_INLINE i64 first_step(const StepRange& steps) { return steps.first; }
FOVEA_INLINE i64 last_step(const StepRange& steps) { return steps.last; }

/// One register tile: finish(row, lane, sum) gets start(row, lane) with the terms of all steps
/// added, by Products or by term(sum, row, lane, step). `Unroll`: a known number of steps is
/// written out, eight at a time, since much longer blocks take g++ minutes. The first tile of a row
/// begins with ahead(row).
template <int Rows, int Vectors, class V, bool Unroll = false, class Steps, class Start, class Term,
          class Finish, class Ahead = Nothing>
FOVEA_INLINE void sum_block(i64 row, i64 lane, Steps steps, const Start& start, const Term& term,
                            const Finish& finish, const Ahead& ahead = {}) {
    constexpr i64 kWide = sizeof(V) / sizeof(float);
    if (lane == 0) FOVEA_UNROLL for (int i = 0; i < Rows; ++i) ahead(row + i);
    V sums[Rows][Vectors];
    start_sums<Start>(sums,
                      [&](int i, int v) FOVEA_LAMBDA { return start(row + i, lane + kWide * v); });
    const auto add = [&](i64 step) FOVEA_LAMBDA {
        if constexpr (kIsProducts<Term>) return term.add(sums, row, lane, step);
        else
            FOVEA_UNROLL for (int i = 0; i < Rows; ++i)
                FOVEA_UNROLL for (int v = 0; v < Vectors; ++v) sums[i][v] =
                    term(sums[i][v], row + i, lane + kWide * v, step);
    };
    if constexpr (Unroll && kKnown<Steps> > 0) {
        _Pragma("GCC unroll 8") for (i64 step = 0; step < kKnown<Steps>; ++step) add(step);
    } else {
        for (i64 step = first_step(steps); step < last_step(steps); ++step) add(step);
    }
    for_sums<Finish>(
        sums, [&](int i, int v, V sum) FOVEA_LAMBDA { finish(row + i, lane + kWide * v, sum); });
}

/// Rows `row` to `rows` - 1 in blocks of Rows, the rest in blocks of fewer.
template <int Rows, int Vectors, class V, class Steps, class Start, class Term, class Finish,
          class Ahead>
FOVEA_INLINE void sum_rows_of_blocks(i64 row, i64 rows, i64 lane, Steps steps, const Start& start,
                                     const Term& term, const Finish& finish, const Ahead& ahead) {
    for (; row + Rows <= rows; row += Rows)
        sum_block<Rows, Vectors, V>(row, lane, steps, start, term, finish, ahead);
    if constexpr (Rows > 1)
        if (row < rows)
            sum_rows_of_blocks<next_fewer(Rows), Vectors, V>(row, rows, lane, steps, start, term,
                                                             finish, ahead);
}

/// A register tile of one vector and of as many of `rows` rows as it can have: Most, or an even
/// number below it, or 1. Returns how many.
template <int Most, class V, class Steps, class Start, class Term, class Finish>
FOVEA_INLINE i64 sum_few_rows(i64 row, i64 rows, Steps steps, const Start& start, const Term& term,
                              const Finish& finish) {
    if constexpr (Most > 1)
        if (rows < Most)
            return sum_few_rows<(Most > 3 ? Most - 2 : 1), V>(row, rows, steps, start, term,
                                                              finish);
    sum_block<Most, 1, V, true>(row, 0, steps, start, term, finish);
    return Most;
}

/// A small tile, in register tiles that are about as long as each other.
template <int Most, class V, class Steps, class Start, class Term, class Finish>
FOVEA_INLINE void sum_small_tile(i64 rows, Steps steps, const Start& start, const Term& term,
                                 const Finish& finish) {
    const i64 parts = rows > Most ? 2 : 1, part = (rows + 2 * parts - 1) / (2 * parts) * 2;
    for (i64 row = 0; row < rows;)
        row += sum_few_rows<Most, V>(row, minimum(part, rows - row), steps, start, term, finish);
}

/// The register tiles that sums of Rows x Vectors are taken in: with fewer registers, as many rows
/// of one vector as leave room for the step's.
template <int Rows, int Vectors>
struct RegisterTiles {
    static constexpr bool kRoomy = kRegisterVectors >= 32;
    static constexpr int kMostRows = kRegisterVectors - kRegisterVectors / 4;
    static constexpr int kRows = kRoomy || Rows < kMostRows ? Rows : kMostRows;
    static constexpr int kVectors = kRoomy ? Vectors : 1;
};
template <int Rows, int Vectors>
struct TileSize {
    static constexpr int kRows = Rows, kVectors = Vectors;
};

/// Calls body(size, lane) for all lanes, each with the TileSize of the register tiles there.
template <int Rows, int Vectors, class V, class Width, class Body>
FOVEA_INLINE void for_tile_lanes(Width lanes, const Body& body) {
    constexpr int kRows = RegisterTiles<Rows, Vectors>::kRows;
    constexpr int kVectors = RegisterTiles<Rows, Vectors>::kVectors;
    constexpr i64 kWide = sizeof(V) / sizeof(float);
    constexpr i64 kKnownVectors = (kKnown<Width> + kWide - 1) / kWide;
    const i64 vectors = (i64(lanes) + kWide - 1) / kWide;
    i64 vector = 0;
    for (; vector + kVectors <= vectors; vector += kVectors)
        body(TileSize<kRows, kVectors>{}, vector * kWide);
    if constexpr (kVectors > 1 && (kKnownVectors == 0 || kKnownVectors % kVectors != 0))
        for (; vector < vectors; ++vector) body(TileSize<2 * kRows, 1>{}, vector * kWide);
}

/// All rows and lanes of a tile, in register tiles of Rows x Vectors. Sizes may be known, or their
/// largest values. Lanes past the end are computed, too, up to whole vectors V. `ahead` is called
/// for every row but those of small tiles.
template <int Rows, int Vectors, class V = floats, class Height, class Width, class Steps,
          class Start, class Term, class Finish, class Ahead = Nothing>
FOVEA_INLINE void sum_tile(Height rows, Width lanes, Steps steps, const Start& start,
                           const Term& term, const Finish& finish, const Ahead& ahead = {}) {
    if constexpr (sums_blocks<Term, V, Steps>())
        return term.sum_block(TileBlock{0, rows, 0, lanes},
                              StepRange{first_step(steps), last_step(steps)}, start, finish, ahead);
    // Terms of many instructions, which have few rows, are written once.
    constexpr bool kSmall = Rows > 4 && kMost<Height> > 0 && kMost<Height> <= kLanes &&
                            kMost<Width> > 0 && kMost<Width> <= i64(sizeof(V) / sizeof(float));
    if constexpr (RegisterTiles<Rows, Vectors>::kRoomy && kSmall)
        return sum_small_tile<12, V>(rows, steps, start, term, finish);
    for_tile_lanes<Rows, Vectors, V>(lanes, [&](auto size, i64 lane) FOVEA_LAMBDA {
        using Size = decltype(size);
        sum_rows_of_blocks<Size::kRows, Size::kVectors, V>(0, rows, lane, steps, start, term,
                                                           finish, ahead);
    });
}

/// Calls body(row) for all rows, four at a time. `rows`: how many, or a StepRange.
template <class Rows, class Body>
FOVEA_INLINE void for_rows(const Rows& rows, const Body& body) {
    i64 row = first_step(rows);
    for (; row + 4 <= last_step(rows); row += 4)
        FOVEA_UNROLL for (int i = 0; i < 4; ++i) body(row + i);
    for (; row < last_step(rows); ++row) body(row);
}

/// combine over value(row): four parts, of the rows 0, 4, 8, ..., 1, 5, 9, ... and so on, so that
/// no part depends on the number of rows but by the rows it has. Ranges begin at a multiple of 4.
template <class Rows, class Value, class Combine>
FOVEA_INLINE floats combine_rows(const Rows& rows, float start, const Value& value,
                                 const Combine& combine) {
    floats parts[4];
    FOVEA_UNROLL for (floats& part : parts) part = splat(start);
    i64 row = first_step(rows);
    for (; row + 4 <= last_step(rows); row += 4)
        FOVEA_UNROLL for (int i = 0; i < 4; ++i) parts[i] = combine(parts[i], value(row + i));
    FOVEA_UNROLL for (int i = 0; i < 3; ++i) if (row + i < last_step(rows)) parts[i] =
        combine(parts[i], value(row + i));
    return combine(combine(parts[0], parts[1]), combine(parts[2], parts[3]));
}
template <class Rows, class Value>
FOVEA_INLINE floats sum_rows(const Rows& rows, const Value& value) {
    return combine_rows(rows, 0.F, value, [](floats a, floats b) { return a + b; });
}
template <class Rows, class Value>
FOVEA_INLINE floats max_rows(const Rows& rows, const Value& value) {
    return combine_rows(rows, kLowest, value, [](floats a, floats b) { return larger(a, b); });
}

/// The sum, or the maximum, of value(lane) over `lanes` lanes of one row.
template <class Width, class Value>
FOVEA_INLINE float sum_lanes(Width lanes, const Value& value) {
    floats total{};
    for (i64 lane = 0; lane < lanes; lane += kLanes)
        total += keep(value(lane), lanes_at(lane, lanes));
    return sum_across(total);
}
template <class Width, class Value>
FOVEA_INLINE float max_lanes(Width lanes, const Value& value) {
    floats largest = splat(kLowest);
    for (i64 lane = 0; lane < lanes; lane += kLanes)
        largest = larger(largest, keep(value(lane), lanes_at(lane, lanes), kLowest));
    return larger_across(largest);
}

/// Fills `count` elements, up to whole vectors.
FOVEA_INLINE void fill_tile(float* to, i64 count, float value) {
    for (i64 i = 0; i < count; i += kLanes) store(to + i, splat(value));
}

/// A tile in memory as elements of another type: rows `stride` apart to rows `width` apart, which
/// end with zeros up to whole vectors.
template <class To, class T, class Columns>
FOVEA_INLINE void copy_tile(To* to, i64 width, const T* from, i64 stride, i64 rows,
                            Columns columns) {
    for (i64 row = 0; row < rows; ++row)
        for (i64 column = 0; column < columns; column += kLanes)
            store(to + row * width + column,
                  load(from + row * stride + column, lanes_at(column, columns)));
}

/// The smallest and the largest of bound(lane) over `lanes` lanes, at least 0 and at most `extent`.
struct Bounds {
    i64 smallest, largest;
};
template <class Bound>
FOVEA_INLINE Bounds bounds_of(i64 lanes, i64 extent, const Bound& bound) {
    ints smallest = splat(i32(extent)), largest = splat(0);
    for (i64 lane = 0; lane < lanes; lane += kLanes) {
        const ints value = bound(lane);
        smallest = minimum(smallest, keep(value, lanes_at(lane, lanes), i32(extent)));
        largest = maximum(largest, keep(value, lanes_at(lane, lanes)));
    }
    return {maximum(i64(-max_across(-smallest)), i64(0)),
            minimum(i64(max_across(largest)), extent)};
}

}  // namespace fovea::cpu::inline FOVEA_ISA
