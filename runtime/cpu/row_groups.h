// Rows that a kernel takes together, where they are short. A sum across the lanes of a row, and
// what follows from it, is a chain of instructions that wait for each other; of short rows these
// chains take most of the time. So a kernel goes over a strip of rows pass by pass, and within a
// pass takes four rows as a group: they share the instructions of a sum across, and of what is
// computed once a row.
//
// A number for each row of a group is a float for one row; for four rows it is a vector that has
// four lanes for each. Every row comes out the same, alone or in a group.
#pragma once

#include "math.h"
#include "rows.h"

namespace fovea::cpu::inline FOVEA_ISA {

template <int Rows>
struct RowGroup {
    static constexpr i64 rows = Rows;
};

inline constexpr i64 kShortRow = 256;  // elements
inline constexpr i64 kStripRows = 16;

/// How many rows of `length` elements a pass goes over before the next one does: so many that their
/// elements stay in the nearest cache.
inline i64 rows_at_once(i64 length) { return length > kShortRow ? 1 : kStripRows; }
/// The same for `rows` rows that threads share: fewer where some would have none.
inline i64 rows_at_once(i64 length, i64 rows) {
    const bool few = rows < 4 * kStripRows * Team::part().count;
    return minimum(rows_at_once(length), few ? kStripRows / 4 : kStripRows);
}
/// The strip of rows from `begin` on, of those below `end`.
inline Range strip_of(i64 begin, i64 rows, i64 end) { return {begin, minimum(begin + rows, end)}; }

/// Calls body(row, group) for the rows of a strip: `group` rows from `row` on.
template <class Body>
FOVEA_INLINE void for_row_groups(Range rows, [[maybe_unused]] i64 length, const Body& body) {
    i64 row = rows.begin;
#ifdef __AVX512F__
    if (length <= kShortRow)
        for (; row + 4 <= rows.end; row += 4) body(row, RowGroup<4>{});
#endif
    for (; row < rows.end; ++row) body(row, RowGroup<1>{});
}

/// A vector for each row of a group.
template <int Rows>
struct RowVectors {
    floats of[Rows];
    FOVEA_INLINE floats& operator[](i64 row) { return of[row]; }
};
template <int Rows>
FOVEA_INLINE RowVectors<Rows> row_vectors(RowGroup<Rows>, float start) {
    RowVectors<Rows> result;
    FOVEA_UNROLL for (floats& vector : result.of) vector = splat(start);
    return result;
}

FOVEA_INLINE float sum_across(const RowVectors<1>& rows) { return sum_across(rows.of[0]); }
FOVEA_INLINE float larger_across(const RowVectors<1>& rows) { return larger_across(rows.of[0]); }
FOVEA_INLINE float max_across(const RowVectors<1>& rows) { return max_across(rows.of[0]); }
/// The number of row `row` of the group, in all lanes.
FOVEA_INLINE floats of_row(float value, i64) { return splat(value); }
FOVEA_INLINE ints of_row(i32 value, i64) { return splat(value); }
/// The numbers of a group's rows in memory, `stride` elements apart.
template <class T>
FOVEA_INLINE T load_each(const T* from, i64, RowGroup<1>) {
    return *from;
}
FOVEA_INLINE void store_each(float* to, i64, float value, RowGroup<1>) { *to = value; }

#ifdef __AVX512F__
/// Two of the quarters of a, then two of b.
template <int Which>
FOVEA_INLINE floats quarters_of(floats a, floats b) {
    return floats(_mm512_maskz_shuffle_f32x4(0xffff, __m512(a), __m512(b), Which));
}
template <class Combine>
FOVEA_INLINE floats across_rows(const RowVectors<4>& rows, const Combine& combine) {
    const auto in_halves = [&](floats a, floats b) FOVEA_LAMBDA {
        return combine(quarters_of<0x44>(a, b), quarters_of<0xee>(a, b));
    };
    const floats first = in_halves(rows.of[0], rows.of[1]);
    const floats second = in_halves(rows.of[2], rows.of[3]);
    const floats four = combine(quarters_of<0x88>(first, second), quarters_of<0xdd>(first, second));
    const floats two = combine(four, floats(_mm512_maskz_permute_ps(0xffff, __m512(four), 0x4e)));
    return combine(two, floats(_mm512_maskz_permute_ps(0xffff, __m512(two), 0xb1)));
}
/// In the order in which `sum_across` and `max_across` take the lanes of one row.
FOVEA_INLINE floats sum_across(const RowVectors<4>& rows) {
    return across_rows(rows, [](floats a, floats b) FOVEA_LAMBDA { return a + b; });
}
FOVEA_INLINE floats larger_across(const RowVectors<4>& rows) {
    return across_rows(rows, [](floats a, floats b) FOVEA_LAMBDA { return larger(a, b); });
}
FOVEA_INLINE floats max_across(const RowVectors<4>& rows) {
    return across_rows(rows, [](floats a, floats b) FOVEA_LAMBDA { return maximum(a, b); });
}

FOVEA_INLINE ints of_row(ints value, i64 row) {
    const __m512i all = __m512i(value);
    switch (row) {
        case 0: return ints(_mm512_maskz_shuffle_i32x4(0xffff, all, all, 0x00));
        case 1: return ints(_mm512_maskz_shuffle_i32x4(0xffff, all, all, 0x55));
        case 2: return ints(_mm512_maskz_shuffle_i32x4(0xffff, all, all, 0xaa));
        default: return ints(_mm512_maskz_shuffle_i32x4(0xffff, all, all, 0xff));
    }
}
FOVEA_INLINE floats of_row(floats value, i64 row) { return as_floats(of_row(as_ints(value), row)); }

template <class T>
FOVEA_INLINE auto load_each(const T* from, i64 stride, RowGroup<4>) {
    using Four = Register<T, 4>;
    const Four four = stride == 1 ? load_as<Four>(from)
                                  : Four{from[0], from[stride], from[2 * stride], from[3 * stride]};
    constexpr i32 kQuarters[] = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3};
    const __m512 all = _mm512_maskz_broadcast_f32x4(0xffff, __m128(four));
    return Register<T, 16>(_mm512_maskz_permutevar_ps(0xffff, all, __m512i(load(kQuarters))));
}
FOVEA_INLINE void store_each(float* to, i64 stride, floats value, RowGroup<4>) {
    const auto four = __builtin_shufflevector(value, value, 0, 4, 8, 12);
    if (stride == 1) return store_as(to, four);
    FOVEA_UNROLL for (int row = 0; row < 4; ++row) to[row * stride] = four[row];
}
#endif

/// What a pass keeps for later ones: a number for each row of a strip.
struct RowValues {
    alignas(64) float of[kStripRows * 4];
};
FOVEA_INLINE void keep_each(RowValues& values, i64 row, float value) { values.of[4 * row] = value; }
FOVEA_INLINE void keep_each(RowValues& values, i64 row, floats value) {
    store(values.of + 4 * row, value);
}
FOVEA_INLINE float kept_each(const RowValues& values, i64 row, RowGroup<1>) {
    return values.of[4 * row];
}
FOVEA_INLINE floats kept_each(const RowValues& values, i64 row, RowGroup<4>) {
    return load(values.of + 4 * row);
}

}  // namespace fovea::cpu::inline FOVEA_ISA
