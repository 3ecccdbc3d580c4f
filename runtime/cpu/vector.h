// Vectors of 16 lanes: what every emitted kernel computes with. Lane and element go together
// (element k of a row is in lane k % 16) on every instruction set, so results have the same shape.
#pragma once

#include <cstdint>
#include <cstring>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

// Vectors wider than the machine's are passed to inlined functions only, so their ABI is no matter.
#pragma GCC diagnostic ignored "-Wpsabi"

// One namespace per instruction set, so that a program can hold the same kernel for several.
#if defined(__AVX512F__)
#define FOVEA_ISA avx512
#elif defined(__AVX2__)
#define FOVEA_ISA avx2
#else
#define FOVEA_ISA baseline
#endif

#define FOVEA_INLINE inline __attribute__((always_inline))
#define FOVEA_UNROLL _Pragma("GCC unroll 32")
#define FOVEA_LAMBDA __attribute__((always_inline))

namespace fovea::cpu::inline FOVEA_ISA {

using i64 = std::int64_t;
using i32 = std::int32_t;

inline constexpr i64 kLanes = 16;

using floats = float __attribute__((vector_size(64)));
using ints = i32 __attribute__((vector_size(64)));  // also masks: -1 true, 0 false
using words = std::uint32_t __attribute__((vector_size(64)));
using bytes = std::uint8_t __attribute__((vector_size(16)));
using halves = std::uint16_t __attribute__((vector_size(32)));

FOVEA_INLINE floats splat(float value) { return floats{} + value; }
FOVEA_INLINE ints splat(i32 value) { return ints{} + value; }
FOVEA_INLINE ints iota() { return ints{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}; }
FOVEA_INLINE ints iota(i64 first) { return iota() + i32(first); }

FOVEA_INLINE floats select(ints mask, floats a, floats b) { return mask ? a : b; }
FOVEA_INLINE ints select(ints mask, ints a, ints b) { return mask ? a : b; }
FOVEA_INLINE floats select(bool condition, floats a, floats b) { return condition ? a : b; }
FOVEA_INLINE ints select(bool condition, ints a, ints b) { return condition ? a : b; }
FOVEA_INLINE float select(bool condition, float a, float b) { return condition ? a : b; }
FOVEA_INLINE i32 select(bool condition, i32 a, i32 b) { return condition ? a : b; }

/// Which of 16 lanes take part: the first `count`.
struct Lanes {
    i64 count = kLanes;
    bool all() const { return count >= kLanes; }
    ints mask() const { return iota() < splat(i32(count)); }
#ifdef __AVX512F__
    __mmask16 bits() const { return __mmask16((1U << count) - 1U); }
#endif
};

/// The lanes of elements k to k + 15 of `extent`; none when k is past the end.
FOVEA_INLINE Lanes lanes_at(i64 k, i64 extent) {
    const i64 left = extent - k;
    return {left < kLanes ? (left > 0 ? left : 0) : kLanes};
}

/// 16 elements from memory; lanes that take no part are 0 and their memory is not touched.
FOVEA_INLINE floats load(const float* from) {
    floats result;
    std::memcpy(&result, from, sizeof result);
    return result;
}
FOVEA_INLINE ints load(const i32* from) {
    ints result;
    std::memcpy(&result, from, sizeof result);
    return result;
}
FOVEA_INLINE void store(float* to, floats value) { std::memcpy(to, &value, sizeof value); }
FOVEA_INLINE void store(i32* to, ints value) { std::memcpy(to, &value, sizeof value); }

#ifdef __AVX512F__
FOVEA_INLINE floats load(const float* from, Lanes lanes) {
    return floats(_mm512_maskz_loadu_ps(lanes.bits(), from));
}
FOVEA_INLINE ints load(const i32* from, Lanes lanes) {
    return ints(_mm512_maskz_loadu_epi32(lanes.bits(), from));
}
FOVEA_INLINE void store(float* to, floats value, Lanes lanes) {
    _mm512_mask_storeu_ps(to, lanes.bits(), __m512(value));
}
FOVEA_INLINE void store(i32* to, ints value, Lanes lanes) {
    _mm512_mask_storeu_epi32(to, lanes.bits(), __m512i(value));
}
#else
FOVEA_INLINE floats load(const float* from, Lanes lanes) {
    if (lanes.all()) return load(from);
    floats result{};
    for (i64 lane = 0; lane < lanes.count; ++lane) result[lane] = from[lane];
    return result;
}
FOVEA_INLINE ints load(const i32* from, Lanes lanes) {
    if (lanes.all()) return load(from);
    ints result{};
    for (i64 lane = 0; lane < lanes.count; ++lane) result[lane] = from[lane];
    return result;
}
FOVEA_INLINE void store(float* to, floats value, Lanes lanes) {
    if (lanes.all()) return store(to, value);
    for (i64 lane = 0; lane < lanes.count; ++lane) to[lane] = value[lane];
}
FOVEA_INLINE void store(i32* to, ints value, Lanes lanes) {
    if (lanes.all()) return store(to, value);
    for (i64 lane = 0; lane < lanes.count; ++lane) to[lane] = value[lane];
}
#endif

/// Booleans: bytes 0 and 1 in memory, masks in vectors.
FOVEA_INLINE ints load(const bool* from, Lanes lanes) {
    bytes packed{};
    if (lanes.all()) std::memcpy(&packed, from, sizeof packed);
    else std::memcpy(&packed, from, std::size_t(lanes.count));
    return __builtin_convertvector(packed, ints) != 0;
}
FOVEA_INLINE void store(bool* to, ints mask, Lanes lanes) {
    const bytes packed = __builtin_convertvector(mask & 1, bytes);
    if (lanes.all()) std::memcpy(to, &packed, sizeof packed);
    else std::memcpy(to, &packed, std::size_t(lanes.count));
}

FOVEA_INLINE ints load(const bool* from) { return load(from, Lanes{}); }
FOVEA_INLINE void store(bool* to, ints mask) { store(to, mask, Lanes{}); }

/// bfloat16: the upper half of a float32; stored to nearest, ties to even.
struct bf16 {
    std::uint16_t bits;
};
FOVEA_INLINE floats widen(halves bits) {
    return floats(__builtin_convertvector(bits, words) << 16);
}
FOVEA_INLINE halves narrow(floats value) {
    const words bits = words(value);
    const words rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
    const words nan = (bits >> 16) | 0x40U;
    return __builtin_convertvector(value == value ? rounded : nan, halves);
}
FOVEA_INLINE floats load(const bf16* from, Lanes lanes) {
    halves packed{};
    if (lanes.all()) std::memcpy(&packed, from, sizeof packed);
    else std::memcpy(&packed, from, std::size_t(lanes.count) * sizeof(bf16));
    return widen(packed);
}
FOVEA_INLINE void store(bf16* to, floats value, Lanes lanes) {
    const halves packed = narrow(value);
    if (lanes.all()) std::memcpy(to, &packed, sizeof packed);
    else std::memcpy(to, &packed, std::size_t(lanes.count) * sizeof(bf16));
}
FOVEA_INLINE floats load(const bf16* from) { return load(from, Lanes{}); }
FOVEA_INLINE void store(bf16* to, floats value) { store(to, value, Lanes{}); }
FOVEA_INLINE float to_float(bf16 value) { return widen(halves{} + value.bits)[0]; }
FOVEA_INLINE bf16 to_bf16(float value) { return {narrow(splat(value))[0]}; }

/// Elements `stride` apart.
template <class T>
FOVEA_INLINE auto load_strided(const T* from, i64 stride, Lanes lanes) {
    T gathered[kLanes]{};
    for (i64 lane = 0; lane < lanes.count; ++lane) gathered[lane] = from[lane * stride];
    return load(gathered);
}
template <class T, class Vector>
FOVEA_INLINE void store_strided(T* to, i64 stride, Vector value, Lanes lanes) {
    T scattered[kLanes];
    store(scattered, value);
    for (i64 lane = 0; lane < lanes.count; ++lane) to[lane * stride] = scattered[lane];
}

/// Lane i's element of row `rows[i]`, `stride` elements after that of lane i - 1 within its row.
template <class T>
FOVEA_INLINE auto load_rows(const T* from, ints rows, i64 row_stride, i64 stride, Lanes lanes) {
    T gathered[kLanes]{};
    for (i64 lane = 0; lane < lanes.count; ++lane)
        gathered[lane] = from[i64(rows[lane]) * row_stride + lane * stride];
    return load(gathered);
}
template <class T, class Vector>
FOVEA_INLINE void store_rows(T* to, ints rows, i64 row_stride, i64 stride, Vector value,
                             Lanes lanes) {
    T scattered[kLanes];
    store(scattered, value);
    for (i64 lane = 0; lane < lanes.count; ++lane)
        to[i64(rows[lane]) * row_stride + lane * stride] = scattered[lane];
}

/// a * b + c, rounded once where the machine can.
FOVEA_INLINE floats multiply_add(floats a, floats b, floats c) {
#ifdef __AVX512F__
    return floats(_mm512_fmadd_ps(__m512(a), __m512(b), __m512(c)));
#else
    return a * b + c;
#endif
}

FOVEA_INLINE floats to_floats(floats value) { return value; }
FOVEA_INLINE floats to_floats(ints value) { return __builtin_convertvector(value, floats); }
/// A mask as 0 and 1.
FOVEA_INLINE floats mask_to_floats(ints mask) { return select(mask, splat(1.F), splat(0.F)); }
FOVEA_INLINE ints mask_to_ints(ints mask) { return mask & 1; }
FOVEA_INLINE ints splat_mask(bool value) { return splat(value ? -1 : 0); }

FOVEA_INLINE floats maximum(floats a, floats b) { return a > b ? a : b; }
FOVEA_INLINE floats minimum(floats a, floats b) { return a < b ? a : b; }
FOVEA_INLINE ints maximum(ints a, ints b) { return a > b ? a : b; }
FOVEA_INLINE ints minimum(ints a, ints b) { return a < b ? a : b; }
FOVEA_INLINE float maximum(float a, float b) { return a > b ? a : b; }
FOVEA_INLINE float minimum(float a, float b) { return a < b ? a : b; }
FOVEA_INLINE i32 maximum(i32 a, i32 b) { return a > b ? a : b; }
FOVEA_INLINE i32 minimum(i32 a, i32 b) { return a < b ? a : b; }

inline constexpr float kLowest = -__builtin_inff();
inline constexpr i32 kLowestInteger = -2147483647 - 1;

/// The lanes that take part, and `other` in the rest: what a sum or a maximum leaves alone.
FOVEA_INLINE floats keep(floats value, Lanes lanes, float other = 0.F) {
#ifdef __AVX512F__
    return floats(_mm512_mask_mov_ps(__m512(splat(other)), lanes.bits(), __m512(value)));
#else
    return select(lanes.mask(), value, splat(other));
#endif
}
FOVEA_INLINE ints keep(ints value, Lanes lanes, i32 other = 0) {
    return select(lanes.mask(), value, splat(other));
}

/// `count` rounded up to whole vectors.
FOVEA_INLINE i64 whole_lanes(i64 count) { return (count + kLanes - 1) / kLanes * kLanes; }

/// Sum and maximum of 16 lanes, always in the same order: halves, quarters, pairs.
template <class Vector, class Combine>
FOVEA_INLINE auto across(Vector value, Combine combine) {
    value = combine(value, __builtin_shufflevector(value, value, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1,
                                                   2, 3, 4, 5, 6, 7));
    value = combine(value, __builtin_shufflevector(value, value, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14,
                                                   15, 8, 9, 10, 11));
    value = combine(value, __builtin_shufflevector(value, value, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8,
                                                   9, 14, 15, 12, 13));
    value = combine(value, __builtin_shufflevector(value, value, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11,
                                                   10, 13, 12, 15, 14));
    return value[0];
}
template <class Vector>
FOVEA_INLINE auto sum_across(Vector value) {
    return across(value, [](Vector a, Vector b) { return a + b; });
}
template <class Vector>
FOVEA_INLINE auto max_across(Vector value) {
    return across(value, [](Vector a, Vector b) { return maximum(a, b); });
}

/// Rows to columns: lane j of vector i becomes lane i of vector j.
FOVEA_INLINE void transpose(floats (&rows)[16]) {
    floats other[16];
    FOVEA_UNROLL for (int i = 0; i < 8; ++i) {
        other[2 * i] = __builtin_shufflevector(rows[i], rows[i + 8], 0, 16, 1, 17, 2, 18, 3, 19, 4,
                                               20, 5, 21, 6, 22, 7, 23);
        other[2 * i + 1] = __builtin_shufflevector(rows[i], rows[i + 8], 8, 24, 9, 25, 10, 26, 11,
                                                   27, 12, 28, 13, 29, 14, 30, 15, 31);
    }
    FOVEA_UNROLL for (int i = 0; i < 8; ++i) {
        rows[2 * i] = __builtin_shufflevector(other[i], other[i + 8], 0, 16, 1, 17, 2, 18, 3, 19, 4,
                                              20, 5, 21, 6, 22, 7, 23);
        rows[2 * i + 1] = __builtin_shufflevector(other[i], other[i + 8], 8, 24, 9, 25, 10, 26, 11,
                                                  27, 12, 28, 13, 29, 14, 30, 15, 31);
    }
    FOVEA_UNROLL for (int i = 0; i < 8; ++i) {
        other[2 * i] = __builtin_shufflevector(rows[i], rows[i + 8], 0, 16, 1, 17, 2, 18, 3, 19, 4,
                                               20, 5, 21, 6, 22, 7, 23);
        other[2 * i + 1] = __builtin_shufflevector(rows[i], rows[i + 8], 8, 24, 9, 25, 10, 26, 11,
                                                   27, 12, 28, 13, 29, 14, 30, 15, 31);
    }
    FOVEA_UNROLL for (int i = 0; i < 8; ++i) {
        rows[2 * i] = __builtin_shufflevector(other[i], other[i + 8], 0, 16, 1, 17, 2, 18, 3, 19, 4,
                                              20, 5, 21, 6, 22, 7, 23);
        rows[2 * i + 1] = __builtin_shufflevector(other[i], other[i + 8], 8, 24, 9, 25, 10, 26, 11,
                                                  27, 12, 28, 13, 29, 14, 30, 15, 31);
    }
}

/// to[i * to_stride + j] = from[j * from_stride + i] for the rows i and columns j that take part.
inline void copy_transposed(float* to, i64 to_stride, const float* from, i64 from_stride,
                            Lanes rows, Lanes columns) {
    floats square[kLanes];
    FOVEA_UNROLL for (i64 j = 0; j < kLanes; ++j)
        square[j] = j < columns.count ? load(from + j * from_stride, rows) : floats{};
    transpose(square);
    FOVEA_UNROLL for (i64 i = 0; i < kLanes; ++i)
        if (i < rows.count) store(to + i * to_stride, square[i], columns);
}

}  // namespace fovea::cpu::inline FOVEA_ISA
