// Operands of contractions in the order in which register tiles read them: copied before the sums
// that take them, or on the way of sums before, one piece at each step, where copying by itself
// would wait for memory.
#pragma once

#include <cstring>

#include "operands.h"
#include "panels.h"
#include "vector.h"

namespace fovea::cpu::inline FOVEA_ISA {

/// Copies columns of b, which lies as [column, k], to [k, Width], in squares of 16 x 16.
template <int Width, class Stride>
inline void pack_transposed(float*& to, const float* b, Stride stride, i64 columns, i64 extent) {
    for (i64 k = 0; k < extent; k += kLanes, b += kLanes) {
        const Lanes steps = lanes_at(k, extent);
        for (i64 j = 0; j < Width; j += kLanes) {
            floats square[kLanes];
            FOVEA_UNROLL for (i64 i = 0; i < kLanes; ++i) square[i] =
                j + i < columns ? load(b + (j + i) * stride, steps) : floats{};
            transpose(square);
            FOVEA_UNROLL for (i64 i = 0; i < kLanes; ++i) if (i < steps.count)
                store(to + i * Width + j, square[i]);
        }
        to += steps.count * Width;
    }
}

/// Copies columns of b to [k, Width], the columns past the end as 0; `to` ends behind the panel.
template <int Width, class Stride, class First, class... Rest>
inline void pack_panel(float*& to, const float* b, Stride stride, i64 columns, First sum,
                       Rest... rest) {
    if constexpr (sizeof...(rest) == 0 && std::is_same_v<decltype(sum.b), Fixed<1>>)
        return pack_transposed<Width>(to, b, stride, columns, sum.extent);
    for (i64 k = 0; k < sum.extent; ++k, b += sum.b) {
        if constexpr (sizeof...(rest) > 0) {
            pack_panel<Width>(to, b, stride, columns, rest...);
        } else {
            constexpr i64 kAhead = 40;
            if constexpr (std::is_same_v<Stride, Fixed<1>>)
                for (i64 j = 0; j < Width; j += kLanes) __builtin_prefetch(b + kAhead * sum.b + j);
            for (i64 j = 0; j < Width; j += kLanes) {
                const Lanes lanes = lanes_at(j, columns);
                if constexpr (std::is_same_v<Stride, Fixed<1>>) store(to + j, load(b + j, lanes));
                else store(to + j, load_strided(b + j * stride, stride, lanes));
            }
            to += Width;
        }
    }
}

/// Calls `body` with `sums` moving through a packed panel.
template <int Width, class Body, class First, class... Rest>
FOVEA_INLINE void with_packed_steps(const Body& body, First first, Rest... rest) {
    if constexpr (sizeof...(rest) == 0) {
        body(Sum{first.extent, first.a, fixed<Width>});
    } else {
        const Sum moved{first.extent, first.a, i64(Width) * steps_of(rest...)};
        with_packed_steps<Width>([&](auto... inner) FOVEA_LAMBDA { body(moved, inner...); },
                                 rest...);
    }
}

/// Copies a block of rows to [tile, step, Rows], the rows past the end as 0: as many tiles at a
/// time as fill whole lines, so that each line of a is read once.
template <int Rows, class Sum>
inline void pack_rows(float* to, const float* a, i64 rows, Sum sum) {
    constexpr i64 kTiles = kTilesOfLines<Rows>, kAhead = 24;
    // Half a vector crosses fewer lines than a whole one. What it writes past its rows, the next
    // steps write again; past the last steps, and past the end of a, there is nothing.
    constexpr i64 kHalf = kLanes / 2;
    static_assert(Rows <= kHalf);
    const i64 tile = Rows * i64(sum.extent);
    i64 row = 0;
    for (; row + kTiles * Rows <= rows; row += kTiles * Rows, to += kTiles * tile)
        for (i64 k = 0; k < sum.extent; ++k) {
            const float* line = a + k * sum.a + row;
            for (i64 at = 0; at < kTiles * Rows; at += kLanes)
                __builtin_prefetch(line + kAhead * sum.a + at);
            float* const step = to + k * Rows;
            const auto copy = [&](auto count) FOVEA_LAMBDA {
                FOVEA_UNROLL for (i64 t = 0; t < kTiles; ++t)
                    std::memcpy(step + t * tile, line + t * Rows, sizeof(float) * count);
            };
            if ((sum.extent - k) * Rows >= kHalf) copy(fixed<kHalf>);
            else copy(fixed<Rows>);
        }
    for (; row < rows; row += Rows, to += tile) {
        const Lanes lanes = lanes_at(row, rows < row + Rows ? rows : row + Rows);
        for (i64 k = 0; k < sum.extent; ++k)
            store(to + k * Rows, load(a + k * sum.a + row, lanes), Lanes{Rows});
    }
}

/// Copies a piece of `Floats` at every `every`-th step of a sum: `Pieces` of step 0 of what is
/// packed, then those of step 1.
template <i64 Pieces, i64 Floats>
struct CopyPieces {
    const float* from;
    i64 step;  // from one step to the next
    float* to;
    i64 piece, packed_step;  // from one piece, and from one step, to the next where they are packed
    i64 every = 1, wait = 0;  // steps between pieces, and until the next
    i64 left = Pieces;  // of this step

    /// What the sums copy from step `begin` of all of them on.
    FOVEA_INLINE void skip(i64 begin) {
        const i64 number = (begin + every - 1) / every;
        wait = number * every - begin;
        const i64 steps = number / Pieces, pieces = number % Pieces;
        from += steps * step + pieces * Floats, to += steps * packed_step + pieces * piece;
        left -= pieces;
    }
    FOVEA_INLINE void fetch() {
        if (wait-- > 0) return;
        wait = every - 1;
        // Steps that lie the same power of two apart share a few sets of the first cache.
        constexpr i64 kAhead = 64 / Pieces;
        __builtin_prefetch(from + kAhead * step, 0, 2);
        std::memcpy(to, from, sizeof(float) * Floats);
        if (--left > 0) {
            from += Floats, to += piece;
        } else {
            from += step - (Pieces - 1) * Floats, to += packed_step - (Pieces - 1) * piece;
            left = Pieces;
        }
    }
};
/// Copies by tiles, a piece at each of their steps: the tile where `rows` rows are left begins with
/// piece 0.
template <i64 Pieces, i64 Floats>
struct CopyByTiles {
    CopyPieces<Pieces, Floats> pieces;
    i64 steps, rows;
    template <int Rows, int>
    FOVEA_INLINE CopyPieces<Pieces, Floats> of_tile(i64 left, const float* /*next_rows*/) const {
        CopyPieces<Pieces, Floats> own = pieces;
        own.skip((rows - left) / Rows * steps);
        return own;
    }
};

/// Two pieces at each step.
template <class First, class Second>
struct FetchBoth {
    First first;
    Second second;
    FOVEA_INLINE void fetch() { first.fetch(), second.fetch(); }
};
template <class First, class Second>
FetchBoth(First, Second) -> FetchBoth<First, Second>;
template <class First, class Second>
struct CopyBoth {
    First first;
    Second second;
    template <int Rows, int Vectors>
    FOVEA_INLINE auto of_tile(i64 left, const float* next_rows) const {
        return FetchBoth{first.template of_tile<Rows, Vectors>(left, next_rows),
                         second.template of_tile<Rows, Vectors>(left, next_rows)};
    }
};
template <class First, class Second>
CopyBoth(First, Second) -> CopyBoth<First, Second>;

}  // namespace fovea::cpu::inline FOVEA_ISA
