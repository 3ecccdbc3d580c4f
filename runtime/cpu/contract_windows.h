// Contractions of windows, whose elements overlap in memory: a copy of them, as panels are, would
// be several times as large, so that they are read where they lie.
//
// `contract_in_place` has the positions of windows in its lanes: out[i, j] = sum a[i, k] b[j + k].
// `contract_along` has a sum in its lanes, for the few elements of a window, and for long sums over
// several axes: both operands lie along its innermost axis, b in steps of the windows' stride.
#pragma once

#include <cstring>

#include "contract.h"

namespace fovea::cpu::inline FOVEA_ISA {

/// As add_products, for vectors of which some lanes may lie past the end of b.
template <bool Whole, int Rows, int Vectors, class Stride, class First, class... Rest>
FOVEA_INLINE void add_products_in_place(floats (&c)[Rows][Vectors], const float* a, Stride row,
                                        const float* b, const Lanes (&lanes)[Vectors], First sum,
                                        Rest... rest) {
    for (i64 k = 0; k < sum.extent; ++k, a += sum.a, b += sum.b) {
        if constexpr (sizeof...(rest) > 0) {
            add_products_in_place<Whole>(c, a, row, b, lanes, rest...);
        } else {
            floats columns[Vectors];
            FOVEA_UNROLL for (int v = 0; v < Vectors; ++v) columns[v] =
                Whole || (v + 1 < Vectors && lanes[v].all()) ? load(b + kLanes * v)
                                                             : load(b + kLanes * v, lanes[v]);
            FOVEA_UNROLL for (int i = 0; i < Rows; ++i) {
                const floats value = splat(a[i * row]);
                FOVEA_UNROLL for (int v = 0; v < Vectors; ++v) c[i][v] =
                    multiply_add(value, columns[v], c[i][v]);
            }
        }
    }
}

/// `rows` rows of a panel: tiles of Rows, then, where there may be Left, of fewer.
template <bool Whole, bool Left, int Rows, int Vectors, class Stride, class Finish, class... Sums>
FOVEA_INLINE void contract_rows_in_place(i64 i, i64 rows, i64 j, const Lanes (&lanes)[Vectors],
                                         const float* a, Stride row, const float* b,
                                         const Finish& finish, Sums... sums) {
    for (; rows >= Rows; i += Rows, rows -= Rows, a += Rows * row) {
        floats c[Rows][Vectors];
        FOVEA_UNROLL for (auto& vectors : c) FOVEA_UNROLL for (floats& vector : vectors) vector =
            floats{};
        add_products_in_place<Whole>(c, a, row, b, lanes, sums...);
        finish_tile(i, j, lanes, c, finish);
    }
    if constexpr (Left && Rows > 1)
        if (rows > 0)
            contract_rows_in_place<Whole, true, next_fewer(Rows)>(i, rows, j, lanes, a, row, b,
                                                                  finish, sums...);
}

/// One panel of a contraction whose columns, and the windows along them, lie side by side in b.
/// Where numbers of rows or columns are known, there is no code for others.
template <int Rows, int Vectors, class RowCount, class Columns, class StrideA, class Finish,
          class... Sums>
FOVEA_INLINE void contract_in_place(const Panel& panel, RowCount, Columns, Operand<StrideA> a,
                                    Operand<Fixed<1>> b, const Finish& finish, Sums... sums) {
    constexpr int kRows = tile_rows(Rows, Vectors), kVectors = tile_vectors(Vectors);
    constexpr i64 kWidth = kLanes * kVectors, kColumns = kKnown<Columns>, kRest = kColumns % kWidth;
    constexpr bool kLeft = kKnown<RowCount> == 0 || kKnown<RowCount> % kRows != 0;
    const auto run = [&]<bool Whole, int Count>(i64 columns) FOVEA_LAMBDA {
        Lanes lanes[Count];
        if constexpr (!Whole)
            FOVEA_UNROLL for (int v = 0; v < Count; ++v) lanes[v] = lanes_at(kLanes * v, columns);
        contract_rows_in_place<Whole, kLeft, kRows>(panel.row, panel.rows, panel.column, lanes,
                                                    a.data + panel.row * a.stride, a.stride,
                                                    b.data + panel.column, finish, sums...);
    };
    if constexpr (kColumns == 0 || kColumns >= kWidth)
        if (kRest == 0 ? kColumns > 0 || panel.columns == kWidth : panel.columns == kWidth)
            return run.template operator()<true, kVectors>(kWidth);
    if constexpr (kColumns == 0) run.template operator()<false, kVectors>(panel.columns);
    else if constexpr (kRest > 0)
        run.template operator()<kRest % kLanes == 0, int((kRest + kLanes - 1) / kLanes)>(kRest);
}

/// Adds the sum over the lanes of each vector to `to`, of which there are so many.
template <int Count>
FOVEA_INLINE void add_sums(float* to, const floats* vectors) {
    constexpr int kNow = Count < int(kLanes) ? Count : int(kLanes);
    const Lanes lanes{kNow};
    store(to, load(to, lanes) + sums_across<kNow>(vectors), lanes);
    if constexpr (Count > kNow) add_sums<Count - kNow>(to + kNow, vectors + kNow);
}

/// Some runs of the innermost sum: where they begin in both operands, and their length.
struct RunList {
    static constexpr int kMost = 64;
    i64 count = 0, at_a[kMost], at_b[kMost], length[kMost];
};

#if defined(__AVX2__) && !defined(__AVX512F__)
/// The products of one half of the lanes: the registers hold six sums, two rows, a column and a
/// mask then.
template <bool Upper, int Rows, int Columns, class StrideA, class StrideB, class Part>
FOVEA_INLINE void add_half(floats (&c)[Rows * Columns], const float* a, StrideA row, const float* b,
                           StrideB column, Part lanes) {
    const auto load_half = [&](const float* from) FOVEA_LAMBDA {
        const floats both = load(from, lanes);
        return Upper ? both.high : both.low;
    };
    Register<float, 8> values[Rows];
    FOVEA_UNROLL for (int i = 0; i < Rows; ++i) values[i] = load_half(a + i * row);
    FOVEA_UNROLL for (int j = 0; j < Columns; ++j) {
        const Register<float, 8> part = load_half(b + j * column);
        FOVEA_UNROLL for (int i = 0; i < Rows; ++i) {
            auto& sum = Upper ? c[i * Columns + j].high : c[i * Columns + j].low;
            sum = Register<float, 8>(_mm256_fmadd_ps(__m256(values[i]), __m256(part), __m256(sum)));
        }
    }
}
#endif

/// The products of a tile of rows with a tile of columns, added to `to` [Rows, Columns], over these
/// runs, of `Length` each where that is known; steps of b are `step` elements apart.
template <int Rows, int Columns, i64 Length, class StrideA, class StrideB, class Step>
FOVEA_INLINE void add_runs(float* to, const float* a, StrideA row, const float* b, StrideB column,
                           const RunList& runs, Step step) {
    floats c[Rows * Columns];
    FOVEA_UNROLL for (floats& vector : c) vector = floats{};
    const auto load_steps = [&](const float* from, auto lanes) FOVEA_LAMBDA {
        if constexpr (std::is_same_v<Step, Fixed<1>>) return load(from, lanes);
        else return load_strided(from, step, lanes);
    };
    const auto add = [&](const float* from_a, const float* from_b, auto lanes) FOVEA_LAMBDA {
#if defined(__AVX2__) && !defined(__AVX512F__)
        if constexpr (std::is_same_v<Step, Fixed<1>>) {
            add_half<false, Rows, Columns>(c, from_a, row, from_b, column, lanes);
            return add_half<true, Rows, Columns>(c, from_a, row, from_b, column, lanes);
        }
#endif
        floats columns[Columns];
        FOVEA_UNROLL for (int j = 0; j < Columns; ++j) columns[j] =
            in_register(load_steps(from_b + j * column, lanes));
        FOVEA_UNROLL for (int i = 0; i < Rows; ++i) {
            const floats value = in_register(load(from_a + i * row, lanes));
            FOVEA_UNROLL for (int j = 0; j < Columns; ++j) c[i * Columns + j] =
                multiply_add(value, columns[j], c[i * Columns + j]);
        }
    };
    for (i64 run = 0; run < runs.count; ++run) {
        const float *from_a = a + runs.at_a[run], *from_b = b + runs.at_b[run];
        const i64 extent = Length > 0 ? Length : runs.length[run];
        i64 k = 0;
        for (; k + kLanes <= extent; k += kLanes) add(from_a + k, from_b + k * step, AllLanes{});
        if (k < extent) add(from_a + k, from_b + k * step, lanes_at(k, extent));
    }
    add_sums<Rows * Columns>(to, c);
}

/// Innermost sums of more steps are cut into runs of half as many.
inline constexpr i64 kLongestRun = 1024;

/// Places the `count` runs from number `first` on: `pieces` of each innermost sum, one after the
/// other.
template <class Inner, class... Outer>
inline void place_runs(RunList& runs, i64 first, i64 count, i64 pieces, Inner inner,
                       Outer... outer) {
    const i64 extent[] = {1, i64(outer.extent)...}, step_a[] = {0, i64(outer.a)...},
              step_b[] = {0, i64(outer.b)...};
    const i64 piece = pieces > 1 ? kLongestRun / 2 : i64(inner.extent);
    runs.count = count;
    for (i64 run = 0; run < count; ++run) {
        i64 number = (first + run) / pieces;
        const i64 begin = (first + run) % pieces * piece, left = inner.extent - begin;
        runs.length[run] = left < piece ? left : piece;
        runs.at_a[run] = begin * inner.a, runs.at_b[run] = begin * inner.b;
        for (int axis = int(sizeof...(outer)); axis > 0; --axis) {
            runs.at_a[run] += number % extent[axis] * step_a[axis];
            runs.at_b[run] += number % extent[axis] * step_b[axis];
            number /= extent[axis];
        }
    }
}

template <class Body, class First, class... Rest>
FOVEA_INLINE void with_last_apart(const Body& body, First first, Rest... rest) {
    if constexpr (sizeof...(rest) == 0) body(first);
    else
        with_last_apart([&](auto last, auto... outer) FOVEA_LAMBDA { body(last, first, outer...); },
                        rest...);
}

/// A whole contraction, whose columns are a multiple of Columns. with_point(point, use) calls
/// use(a, b, finish) with the operands of a point, and what gets its sums. Sums go through memory a
/// block of runs at a time, so that the rows of a that a tile takes stay in the first cache for all
/// points and columns.
template <int Columns, class RowCount, class WithPoint, class... Sums>
void contract_along(i64 points, RowCount rows, i64 columns, const WithPoint& with_point,
                    Sums... sums) {
    constexpr int kMostSums = kRegisterLanes == 8 ? 6 : kRegisterVectors < 32 ? 5 : 24;
    constexpr int kRows = kMostSums / Columns < 1   ? 1
                          : kMostSums / Columns > 8 ? 8
                                                    : kMostSums / Columns;
    // Sums go to memory after each block: its length is part of their bits.
    constexpr int kBlockRows = kPortableBits ? 8 : kRows;
    constexpr i64 kBlockFloats = 6 * 1024, kBlockOfPoints = 32 * 1024, kSums = i64(kRows) * Columns;
    const i64 across = columns / Columns, tiles = (rows + kRows - 1) / kRows;
    const Range mine = my_share(tiles * points * across);
    float* const partial = scratch((mine.end - mine.begin) * kSums + kLanes);
    std::memset(partial, 0, sizeof(float) * std::size_t((mine.end - mine.begin) * kSums));
    const i64 in_row = points * across;  // tiles of the same rows of a
    const auto run_tile = [&](i64 row, i64 place, float* to, const auto& body) FOVEA_LAMBDA {
        const i64 left = rows - row, point = across == 1 ? place : place / across;
        const i64 column = (place - point * across) * Columns;
        with_point(point, [&](auto a, auto b, const auto& finish) FOVEA_LAMBDA {
            a.data += row * a.stride, b.data += column * b.stride;
            body(row, left < kRows ? left : kRows, column, to, a, b, finish);
        });
    };
    // All rows at some places, whose b the second cache holds, then at the next ones.
    const auto for_tiles = [&](i64 places, const auto& body) FOVEA_LAMBDA {
        for (i64 first = 0; first < in_row; first += places)
            for (i64 tile = mine.begin / in_row; tile * in_row < mine.end; ++tile) {
                const i64 begin = mine.begin - tile * in_row, end = mine.end - tile * in_row;
                const i64 from = begin > first ? begin : first,
                          behind = first + places < in_row ? first + places : in_row;
                for (i64 place = from; place < (behind < end ? behind : end); ++place)
                    run_tile(tile * kRows, place, partial + (place - begin) * kSums, body);
            }
    };
    const auto add_all = [&](auto inner, auto... outer) FOVEA_LAMBDA {
        constexpr i64 kExtent = kKnown<decltype(inner.extent)>;
        constexpr i64 kLength = kExtent <= kLongestRun ? kExtent : 0;
        const i64 half = kLongestRun / 2;
        const i64 pieces = inner.extent > kLongestRun ? (inner.extent + half - 1) / half : 1;
        const i64 all = (pieces * ... * i64(outer.extent));
        i64 block = kBlockFloats / (kBlockRows * (pieces > 1 ? half : i64(inner.extent) + 1));
        block = block < 1 ? 1 : block > RunList::kMost ? RunList::kMost : block;
        RunList runs;
        for (i64 first = 0; first < all; first += block) {
            const i64 count = all - first < block ? all - first : block;
            place_runs(runs, first, count, pieces, inner, outer...);
            const i64 places = kBlockOfPoints / (count * (runs.length[0] + 1)) + 1;
            for_tiles(places, [&](i64, i64 some, i64, float* to, auto a, auto b,
                                  const auto&) FOVEA_LAMBDA {
                if (some == kRows)
                    return add_runs<kRows, Columns, kLength>(to, a.data, a.stride, b.data, b.stride,
                                                             runs, inner.b);
                for (i64 i = 0; i < some; ++i)
                    add_runs<1, Columns, kLength>(to + i * Columns, a.data + i * a.stride, a.stride,
                                                  b.data, b.stride, runs, inner.b);
            });
        }
    };
    with_last_apart(add_all, sums...);
    for_tiles(in_row, [&](i64 row, i64 some, i64 column, const float* from, auto, auto,
                          const auto& finish) FOVEA_LAMBDA {
        const Lanes lanes{Columns};
        for (i64 i = 0; i < some; ++i)
            finish(row + i, column, lanes, load(from + i * Columns, lanes));
    });
}

}  // namespace fovea::cpu::inline FOVEA_ISA
