// Vectors of 8 lanes, for axes that have no more: half the work of a vector of 16.
#pragma once

#include "vector.h"

namespace fovea::cpu::inline FOVEA_ISA {

inline constexpr i64 kHalfLanes = kLanes / 2;

using floats8 = typename VectorOf<float, int(kHalfLanes)>::type;

FOVEA_INLINE floats8 load8(const float* from) { return load_as<floats8>(from); }
FOVEA_INLINE floats8 splat8(float value) { return splat_as<floats8>(value); }
FOVEA_INLINE void store(float* to, floats8 value) { store_as(to, value); }

FOVEA_INLINE floats8 multiply_add(floats8 a, floats8 b, floats8 c) {
#if defined(__AVX2__) && defined(__FMA__)
    return floats8(_mm256_fmadd_ps(__m256(a), __m256(b), __m256(c)));
#elif defined(__aarch64__)
    return neon_multiply_add(a, b, c);
#else
    return a * b + c;
#endif
}

#if defined(__AVX512F__)
/// Four elements of each of 4 rows, `apart` elements from one to the next: a group of lanes each.
template <class Stride>
FOVEA_INLINE floats load_group(const float* from, Stride apart) {
    __m512 all = _mm512_castps128_ps512(_mm_loadu_ps(from));
    all = _mm512_insertf32x4(all, _mm_loadu_ps(from + apart), 1);
    all = _mm512_insertf32x4(all, _mm_loadu_ps(from + 2 * apart), 2);
    return floats(_mm512_insertf32x4(all, _mm_loadu_ps(from + 3 * apart), 3));
}

/// Four columns of 16 rows: lane i of a column is that of row i. Vector i has a group of lanes of
/// each of the rows i, i + 4, i + 8 and i + 12, so that columns are made within groups.
FOVEA_INLINE void columns_of_groups(const floats (&x)[4], floats* columns) {
    using Doubles = Register<double, 8>;
    FOVEA_UNROLL for (int half = 0; half < 2; ++half) {
        Doubles y[2];
        FOVEA_UNROLL for (int i = 0; i < 2; ++i) y[i] = Doubles(
            half ? _mm512_maskz_unpackhi_ps(0xffff, __m512(x[2 * i]), __m512(x[2 * i + 1]))
                 : _mm512_maskz_unpacklo_ps(0xffff, __m512(x[2 * i]), __m512(x[2 * i + 1])));
        columns[2 * half] = floats(_mm512_maskz_unpacklo_pd(0xff, y[0], y[1]));
        columns[2 * half + 1] = floats(_mm512_maskz_unpackhi_pd(0xff, y[0], y[1]));
    }
}

/// Columns 4 * part to 4 * part + 3 of 16 rows.
template <int Part>
FOVEA_INLINE void narrow_columns(const floats8 (&rows)[16], floats* columns) {
    constexpr int a = 4 * Part, b = a + 8, c = a + 16, d = a + 24;
    floats x[4];
    FOVEA_UNROLL for (int i = 0; i < 4; ++i) {
        const floats low = __builtin_shufflevector(rows[i], rows[i + 4], 0, 1, 2, 3, 4, 5, 6, 7, 8,
                                                   9, 10, 11, 12, 13, 14, 15);
        const floats high = __builtin_shufflevector(rows[i + 8], rows[i + 12], 0, 1, 2, 3, 4, 5, 6,
                                                    7, 8, 9, 10, 11, 12, 13, 14, 15);
        x[i] = __builtin_shufflevector(low, high, a, a + 1, a + 2, a + 3, b, b + 1, b + 2, b + 3, c,
                                       c + 1, c + 2, c + 3, d, d + 1, d + 2, d + 3);
    }
    columns_of_groups(x, columns);
}

/// Rows of 8 lanes to columns of 16.
FOVEA_INLINE void transpose(const floats8 (&rows)[16], floats (&columns)[8]) {
    narrow_columns<0>(rows, columns);
    narrow_columns<1>(rows, columns + 4);
}
#endif

}  // namespace fovea::cpu::inline FOVEA_ISA
