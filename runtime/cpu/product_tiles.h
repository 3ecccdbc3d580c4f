// Register tiles of products: their sums, and what they fetch on their way.
#pragma once

#include "long_tiles.h"
#include "operands.h"
#include "panels.h"
#include "vector.h"

namespace fovea::cpu::inline FOVEA_ISA {

// ---- Where the sums of a register tile begin, what is done with them, and how often the code for
// it is written.

/// A `finish` of many instructions, such as exp or dropout, or such a start: a tile's sums go
/// through memory to, or from, a loop with its only copy, instead of a copy for each sum.
template <class Finish>
struct Once : Finish {};
template <class Finish>
Once(Finish) -> Once<Finish>;

template <class Finish>
inline constexpr bool kIsOnce = false;
template <class Finish>
inline constexpr bool kIsOnce<Once<Finish>> = true;

/// Sets the vectors of a tile to value(row, vector): unrolled, or in a loop for a `Start` that is
/// written once.
template <class Start, int Rows, int Vectors, class V, class Value>
FOVEA_INLINE void start_sums(V (&sums)[Rows][Vectors], const Value& value) {
    if constexpr (kIsOnce<Start> && Rows * Vectors > 1) {
        V in_memory[Rows * Vectors];
#pragma GCC unroll 1
        for (int i = 0; i < Rows * Vectors; ++i) in_memory[i] = value(i / Vectors, i % Vectors);
        FOVEA_UNROLL for (int r = 0; r < Rows; ++r) FOVEA_UNROLL for (int v = 0; v < Vectors; ++v)
            sums[r][v] = in_memory[r * Vectors + v];
    } else {
        FOVEA_UNROLL for (int r = 0; r < Rows; ++r) FOVEA_UNROLL for (int v = 0; v < Vectors; ++v)
            sums[r][v] = value(r, v);
    }
}

/// Calls body(row, vector, sum) for the sums of a tile: unrolled, or in a loop for a `Finish` that
/// is written once.
template <class Finish, int Rows, int Vectors, class V, class Body>
FOVEA_INLINE void for_sums(const V (&sums)[Rows][Vectors], const Body& body) {
    if constexpr (kIsOnce<Finish> && Rows * Vectors > 1) {
        V in_memory[Rows * Vectors];
        FOVEA_UNROLL for (int r = 0; r < Rows; ++r) FOVEA_UNROLL for (int v = 0; v < Vectors; ++v)
            in_memory[r * Vectors + v] = sums[r][v];
#pragma GCC unroll 1
        for (int i = 0; i < Rows * Vectors; ++i) body(i / Vectors, i % Vectors, in_memory[i]);
    } else {
        FOVEA_UNROLL for (int r = 0; r < Rows; ++r) FOVEA_UNROLL for (int v = 0; v < Vectors; ++v)
            body(r, v, sums[r][v]);
    }
}

/// Rows of a tensor that lie `row` bytes apart, their elements side by side. It need not exist.
struct RowsOfTensor {
    std::uintptr_t data;
    i64 row, element;

    FOVEA_INLINE const void* at(i64 i, i64 j) const {
        return reinterpret_cast<const void*>(data + std::uintptr_t(i * row + j * element));
    }
};
template <class T>
FOVEA_INLINE RowsOfTensor rows_of(const T* data, i64 row) {
    return {std::uintptr_t(data), row * i64(sizeof(T)), sizeof(T)};
}
/// A `finish` that stores to these rows, or reads them: what no cache has waits for memory there,
/// so the tiles of long sums fetch their lines on the way.
template <class Finish, int Count>
struct Beside : Finish {
    static constexpr int kTensors = Count;
    RowsOfTensor tensors[Count];

    FOVEA_INLINE const void* line(i64 tensor, i64 i, i64 j) const {
        return tensors[tensor].at(i, j);
    }
};
template <class Finish, class... Tensors>
FOVEA_INLINE Beside<Finish, sizeof...(Tensors)> beside(Finish finish, Tensors... tensors) {
    return {finish, {tensors...}};
}
/// Whether a `finish` says what it reads and writes.
template <class Finish>
concept HasLines = requires { Finish::kTensors; };

/// The `finish` that stores the product and does nothing else. It is a type, so that kernels can
/// share code.
struct StoreProduct {
    float* to;
    i64 row;  // elements between rows

    static constexpr int kTensors = 1;
    FOVEA_INLINE const float* line(i64 /*tensor*/, i64 i, i64 j) const { return to + i * row + j; }
    FOVEA_INLINE void operator()(i64 i, i64 j, Lanes lanes, floats product) const {
        store(to + i * row + j, product, lanes);
    }
};

/// The `finish` that adds the product to what lies in `before`, in rows as far apart as those of
/// `to`; they may be the same. Tiles of few steps fetch what the next one adds to.
struct AddProduct {
    float* to;
    const float* before;
    i64 row;

    static constexpr int kTensors = 1;
    FOVEA_INLINE const float* line(i64 /*tensor*/, i64 i, i64 j) const {
        return before + i * row + j;
    }
    FOVEA_INLINE void operator()(i64 i, i64 j, Lanes lanes, floats product) const {
        const i64 at = i * row + j;
        store(to + at, product + load(before + at, lanes), lanes);
    }
};

// ---- tiles

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
struct ColumnsAhead {
    const B* at;
    i64 step;
    FOVEA_INLINE void fetch() {
        FOVEA_UNROLL for (int v = 0; v < Vectors; ++v) __builtin_prefetch(at + kLanes * v, 0, 3);
        at += step;
    }
};
/// What a tile of a few rows fetches on its way.
template <int Rows, int Vectors, class B, class First, class... Rest>
FOVEA_INLINE auto columns_ahead(const B* b, First sum, Rest... /*rest*/) {
    if constexpr (Rows > 2 || sizeof...(Rest) > 0) return NoLines{};
    else return ColumnsAhead<Vectors, B>{b + kLinesAhead / Vectors * i64(sum.b), i64(sum.b)};
}

/// c[i][v] += a[i, k] * b[k, v] over k, or over several contracted axes, the last one fastest; b of
/// floats, or of halves that are widened.
template <int Rows, int Vectors, class Stride, class B, class Next, class First, class... Rest>
FOVEA_INLINE void add_products(floats (&c)[Rows][Vectors], const float* a, Stride row, const B* b,
                               Next& next, First sum, Rest... rest) {
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

/// Line `number` of those that `finish` reads and writes for a tile.
template <int Rows, int Vectors, class Finish>
FOVEA_INLINE void fetch_line(const Finish& finish, i64 i, i64 j, i64 number) {
    const i64 row = number / Vectors;
    __builtin_prefetch(finish.line(row / Rows, i + row % Rows, j + kLanes * (number % Vectors)), 1,
                       2);
}

/// The same of one axis. Along a long one the lines of `finish` are fetched.
template <int Rows, int Vectors, class Stride, class B, class Finish, class Next, class Only>
FOVEA_INLINE void add_long_products(i64 i, i64 j, floats (&c)[Rows][Vectors], const float* a,
                                    Stride row, const B* b, const Finish& finish, Next& next,
                                    Only sum) {
    constexpr i64 kLines = i64(Finish::kTensors) * Rows * Vectors, kLeast = 8;  // steps of a line
    const i64 all = sum.extent, each = all / kLines < kLeast ? kLeast : all / kLines;
    const i64 steps = all < kLongSum ? all : each;
    i64 left = all;
    for (i64 line = 0; left > 0; ++line) {
        const i64 some = line < kLines && steps < left ? steps : left;
        if (some < left) fetch_line<Rows, Vectors>(finish, i, j, line);
        add_products(c, a, row, b, next, Sum{some, sum.a, sum.b});
        a += some * sum.a, b += some * sum.b, left -= some;
    }
}

/// Whether the tiles of a sum fetch the lines of their `finish`.
template <class Finish, class First, class... Rest>
constexpr bool fetches_lines() {
    constexpr i64 kSteps = kKnown<decltype(First::extent)>;
    return HasLines<Finish> && sizeof...(Rest) == 0 && (kSteps == 0 || kSteps >= kLongSum);
}

/// finish(i, j, lanes, sum) for 16 elements of the product at a time.
template <int Rows, int Vectors, class Finish>
FOVEA_INLINE void finish_tile(i64 i, i64 j, const Lanes (&lanes)[Vectors],
                              const floats (&c)[Rows][Vectors], const Finish& finish) {
    for_sums<Finish>(c, [&](int r, int v, floats sum) FOVEA_LAMBDA {
        if (v == 0 || lanes[v].count > 0) finish(i + r, j + kLanes * v, lanes[v], sum);
    });
}

/// No value is in a register of vectors: a tile takes all of them. Else g++ keeps constants there
/// that follow the tile, and one of its sums in memory, each addition to which waits for the last.
FOVEA_INLINE void free_registers() {
#if defined(__AVX2__) && !defined(__AVX512F__)
    asm volatile("" ::
                     : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",
                       "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
#endif
}

/// One tile of the product.
template <int Rows, int Vectors, class Stride, class B, class Finish, class Next, class... Sums>
FOVEA_INLINE void contract_tile(i64 i, i64 j, const Lanes (&lanes)[Vectors], const float* a,
                                Stride row, const B* b, const Finish& finish, Next next,
                                Sums... sums) {
    free_registers();
    floats c[Rows][Vectors];
    FOVEA_UNROLL for (auto& vectors : c) FOVEA_UNROLL for (floats& vector : vectors) vector =
        floats{};
    if constexpr (fetches_lines<Finish, Sums...>())
        add_long_products(i, j, c, a, row, b, finish, next, sums...);
    else add_products(c, a, row, b, next, sums...);
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
    auto next = columns_ahead<Rows, Vectors>(b, sums...);
    add_products(c, a, row, b, next, sums...);
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
    FOVEA_INLINE LinesAhead of_long_tile(i64 /*left*/, const float* next_rows,
                                         i64 /*steps*/) const {
        return {next_rows, kLanes};
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
    /// Of a tile that fetches a part of the lines that the panel has.
    FOVEA_INLINE LinesAhead of_long_tile(i64 left, const float* next_rows, i64 steps) const {
        constexpr i64 kTiles = (kLongTileSteps + kLongTileLines - 1) / kLongTileLines;
        const i64 tiles = left / kLongTileRows, lines = steps * kLongTileLines / kLongTileSteps;
        if (tiles > kTiles) return {next_rows, kLanes};
        return {data + (kTiles - tiles) * lines * step, step};
    }
};
/// Where all is near, or a sum too short.
struct NothingNext {
    template <int, int>
    FOVEA_INLINE NoLines of_tile(i64, const float*) const {
        return {};
    }
    FOVEA_INLINE LinesAhead of_long_tile(i64, const float* next_rows, i64) const {
        return {next_rows, kLanes};
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

/// Whether rows are packed, as those of long_tiles.h.
template <class Stride, class First>
inline constexpr bool kArePacked =
    kKnown<decltype(First::a)> == kLongTileRows && kKnown<Stride> == 1;
/// Whether whole tiles are those of long_tiles.h.
template <int Rows, int Vectors, class Stride, class B, class Next, class First, class... Rest>
constexpr bool are_long_tiles() {
    constexpr bool kOneAxis = sizeof...(Rest) == 0 && std::is_same_v<B, float>;
    constexpr bool kPackedPanel = kKnown<decltype(First::b)> == kLanes && Vectors == 1;
    constexpr bool kStepsOfRows = kKnown<decltype(First::a)> == 1;
    return kHasLongTiles && Rows == kLongTileRows && kOneAxis && kPackedPanel &&
           (kStepsOfRows || kArePacked<Stride, First>) &&
           requires(Next next) { next.of_long_tile(i64(0), nullptr, i64(0)); };
}
/// All of them, by way of memory; moves i, rows and a behind them.
template <int Rows, class Stride, class Finish, class Next>
FOVEA_INLINE void contract_long_tiles(i64& i, i64& rows, i64 j, Lanes lanes, const float*& a,
                                      Stride row, i64 tile, const float* b, const Finish& finish,
                                      Next next, i64 steps) {
    for (; rows >= Rows; i += Rows, rows -= Rows, a += tile) {
        if constexpr (HasLines<Finish>)
            for (int line = 0; line < Finish::kTensors * Rows; ++line)
                fetch_line<Rows, 1>(finish, i, j, line);
        floats sums[Rows][1];
        long_tile<SumsBegin::at_zero>(sums, a, row, b, steps,
                                      next.of_long_tile(rows, a + tile, steps));
#pragma GCC unroll 1
        for (int r = 0; r < Rows; ++r) finish(i + r, j, lanes, sums[r][0]);
    }
}

/// All rows of a panel: whole tiles in registers, `tile` elements of a apart, then the rest by way
/// of memory.
template <int Rows, int Vectors, class Stride, class B, class Finish, class Next, class... Sums>
FOVEA_INLINE void contract_rows(i64 i, i64 rows, i64 j, const Lanes (&lanes)[Vectors],
                                const float* a, Stride row, i64 tile, const B* b,
                                const Finish& finish, Next next, Sums... sums) {
    if constexpr (are_long_tiles<Rows, Vectors, Stride, B, Next, Sums...>()) {
        using Row = std::conditional_t<(kArePacked<Stride, Sums> && ...), Fixed<1>, i64>;
        contract_long_tiles<Rows>(i, rows, j, lanes[0], a, Row(row), tile, b, finish, next,
                                  i64(sums.extent)...);
    }
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

}  // namespace fovea::cpu::inline FOVEA_ISA
