// Vectors of 16 lanes: what every emitted kernel computes with. Lane and element go together
// (element k of a row is in lane k % 16) on every instruction set, so results have the same shape.
#pragma once

#include <cstring>

#include "float16.h"

namespace fovea::cpu::inline FOVEA_ISA {

FOVEA_INLINE floats splat(float value) { return splat_as<floats>(value); }
FOVEA_INLINE ints splat(i32 value) { return splat_as<ints>(value); }
FOVEA_INLINE ints iota() {
    constexpr i32 kNumbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return load_as<ints>(kNumbers);
}
FOVEA_INLINE ints iota(i64 first) { return iota() + i32(first); }

FOVEA_INLINE floats select(ints mask, floats a, floats b) { return blend(mask, a, b); }
FOVEA_INLINE ints select(ints mask, ints a, ints b) { return blend(mask, a, b); }
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

/// All 16 of them, known when the code is compiled.
struct AllLanes {
    constexpr operator Lanes() const { return {}; }
};

/// 16 elements from memory; lanes that take no part are 0 and their memory is not touched.
FOVEA_INLINE floats load(const float* from) { return load_as<floats>(from); }
FOVEA_INLINE ints load(const i32* from) { return load_as<ints>(from); }
FOVEA_INLINE void store(float* to, floats value) { store_as(to, value); }
FOVEA_INLINE void store(i32* to, ints value) { store_as(to, value); }

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
#elif defined(__AVX2__)
FOVEA_INLINE floats load(const float* from, Lanes lanes) {
    const ints mask = lanes.mask();
    __m256 low, high{};  // without a mask where the compiler knows that it is all or nothing
    if (__builtin_constant_p(lanes.count >= 8) && lanes.count >= 8) low = _mm256_loadu_ps(from);
    else low = _mm256_maskload_ps(from, __m256i(mask.low));
    if (!(__builtin_constant_p(lanes.count <= 8) && lanes.count <= 8))
        high = _mm256_maskload_ps(from + 8, __m256i(mask.high));
    return {Register<float, 8>(low), Register<float, 8>(high)};
}
FOVEA_INLINE ints load(const i32* from, Lanes lanes) {
    const ints mask = lanes.mask();
    return {Register<i32, 8>(_mm256_maskload_epi32(from, __m256i(mask.low))),
            Register<i32, 8>(_mm256_maskload_epi32(from + 8, __m256i(mask.high)))};
}
FOVEA_INLINE void store(float* to, floats value, Lanes lanes) {
    const ints mask = lanes.mask();
    _mm256_maskstore_ps(to, __m256i(mask.low), __m256(value.low));
    _mm256_maskstore_ps(to + 8, __m256i(mask.high), __m256(value.high));
}
FOVEA_INLINE void store(i32* to, ints value, Lanes lanes) {
    const ints mask = lanes.mask();
    _mm256_maskstore_epi32(to, __m256i(mask.low), __m256i(value.low));
    _mm256_maskstore_epi32(to + 8, __m256i(mask.high), __m256i(value.high));
}
#else
/// Through memory of 16 elements, for fewer: one copy of the code serves every kernel.
template <class V, class T>
__attribute__((noinline)) V load_some(const T* from, i64 count) {
    T some[kLanes]{};
    for (i64 lane = 0; lane < count; ++lane) some[lane] = from[lane];
    return load_as<V>(some);
}
template <class V, class T>
__attribute__((noinline)) void store_some(T* to, V value, i64 count) {
    T some[kLanes];
    store_as(some, value);
    for (i64 lane = 0; lane < count; ++lane) to[lane] = some[lane];
}
FOVEA_INLINE floats load(const float* from, Lanes lanes) {
    return lanes.all() ? load(from) : load_some<floats>(from, lanes.count);
}
FOVEA_INLINE ints load(const i32* from, Lanes lanes) {
    return lanes.all() ? load(from) : load_some<ints>(from, lanes.count);
}
FOVEA_INLINE void store(float* to, floats value, Lanes lanes) {
    if (lanes.all()) store(to, value);
    else store_some(to, value, lanes.count);
}
FOVEA_INLINE void store(i32* to, ints value, Lanes lanes) {
    if (lanes.all()) store(to, value);
    else store_some(to, value, lanes.count);
}
#endif

/// Booleans: bytes 0 and 1 in memory, masks in vectors.
FOVEA_INLINE ints load(const bool* from, Lanes lanes) {
    bytes packed{};
    if (lanes.all()) std::memcpy(&packed, from, sizeof packed);
    else std::memcpy(&packed, from, std::size_t(lanes.count));
    return convert<ints>(packed) != 0;
}
FOVEA_INLINE void store(bool* to, ints mask, Lanes lanes) {
    const bytes packed = convert<bytes>(mask & 1);
    if (lanes.all()) std::memcpy(to, &packed, sizeof packed);
    else std::memcpy(to, &packed, std::size_t(lanes.count));
}

FOVEA_INLINE ints load(const bool* from) { return load(from, Lanes{}); }
FOVEA_INLINE void store(bool* to, ints mask) { store(to, mask, Lanes{}); }

/// bfloat16: the upper half of a float32; float16: see float16.h. Stored to nearest, ties to even.
struct bf16 {
    std::uint16_t bits;
};
struct f16 {
    std::uint16_t bits;
};
template <class T>
concept Half = std::is_same_v<T, bf16> || std::is_same_v<T, f16>;

template <Half T>
FOVEA_INLINE floats widen(halves bits) {
    if constexpr (std::is_same_v<T, f16>) return floats_of_float16(bits);
    else return floats(convert<words>(bits) << 16);
}
template <Half T>
FOVEA_INLINE halves narrow(floats value) {
    if constexpr (std::is_same_v<T, f16>) return float16_of_floats(value);
#if defined(__AVX512BF16__)
    return halves(_mm512_cvtneps_pbh(__m512(value)));
#else
    const words bits = words(value);
    const words rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
    const words nan = (bits >> 16) | 0x40U;
    return convert<halves>(blend(value == value, rounded, nan));
#endif
}
/// Their bits; lanes that take no part are 0 and their memory is not touched.
template <Half T>
FOVEA_INLINE halves load_halves(const T* from, Lanes lanes) {
#if defined(__AVX512F__)
    return halves(_mm256_maskz_loadu_epi16(lanes.bits(), from));
#else
    halves packed{};
    if (lanes.all()) std::memcpy(&packed, from, sizeof packed);
    else std::memcpy(&packed, from, std::size_t(lanes.count) * sizeof(T));
    return packed;
#endif
}
template <Half T>
FOVEA_INLINE floats load(const T* from, Lanes lanes) {
    return widen<T>(load_halves(from, lanes));
}
template <Half T>
FOVEA_INLINE void store(T* to, floats value, Lanes lanes) {
    const halves packed = narrow<T>(value);
#if defined(__AVX512F__)
    _mm256_mask_storeu_epi16(to, lanes.bits(), __m256i(packed));
#else
    if (lanes.all()) std::memcpy(to, &packed, sizeof packed);
    else std::memcpy(to, &packed, std::size_t(lanes.count) * sizeof(T));
#endif
}
template <Half T>
FOVEA_INLINE floats load(const T* from) {
    return load(from, Lanes{});
}
template <Half T>
FOVEA_INLINE void store(T* to, floats value) {
    store(to, value, Lanes{});
}
template <Half T>
FOVEA_INLINE float to_float(T value) {
    return widen<T>(splat_as<halves>(value.bits))[0];
}
template <Half T>
FOVEA_INLINE T to_half(float value) {
    return {narrow<T>(splat(value))[0]};
}
FOVEA_INLINE bf16 to_bf16(float value) { return to_half<bf16>(value); }
FOVEA_INLINE f16 to_f16(float value) { return to_half<f16>(value); }
/// The nearest values of a half, as floats.
template <Half T>
FOVEA_INLINE floats rounded_to(floats value) {
    return widen<T>(narrow<T>(value));
}
FOVEA_INLINE floats rounded_to_bf16(floats value) { return rounded_to<bf16>(value); }
FOVEA_INLINE float rounded_to_bf16(float value) { return to_float(to_bf16(value)); }
FOVEA_INLINE floats rounded_to_f16(floats value) { return rounded_to<f16>(value); }
FOVEA_INLINE float rounded_to_f16(float value) { return to_float(to_f16(value)); }

template <class T>
FOVEA_INLINE auto load(const T* from, AllLanes) {
    return load(from);
}
template <class T, class Vector>
FOVEA_INLINE void store(T* to, Vector value, AllLanes) {
    store(to, value);
}

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
#elif defined(__AVX2__) && defined(__FMA__)
    using Part = Register<float, 8>;
    return {Part(_mm256_fmadd_ps(__m256(a.low), __m256(b.low), __m256(c.low))),
            Part(_mm256_fmadd_ps(__m256(a.high), __m256(b.high), __m256(c.high)))};
#elif defined(__aarch64__)
    return neon_multiply_add(a, b, c);
#else
    return a * b + c;
#endif
}

/// ((first * x + c1) * x + c2) * x and so on (Horner): a product and a sum are rounded together
/// where the machine can.
template <class... Rest>
FOVEA_INLINE floats polynomial(floats x, float first, Rest... rest) {
    floats value = splat(first);
    ((value = multiply_add(value, x, splat(rest))), ...);
    return value;
}

FOVEA_INLINE floats to_floats(floats value) { return value; }
FOVEA_INLINE floats to_floats(ints value) { return convert<floats>(value); }
/// Whole parts; the smallest i32 for what i32 cannot hold.
FOVEA_INLINE i32 to_i32(float value) {
    return value >= -0x1p31F && value < 0x1p31F ? i32(value) : i32(0x80000000U);
}
FOVEA_INLINE ints to_i32(floats value) {
    const ints held = (value >= splat(-0x1p31F)) & (value < splat(0x1p31F));
    return select(held, convert<ints>(select(held, value, splat(0.F))), splat(i32(0x80000000U)));
}
FOVEA_INLINE i32 divide_whole(i32 a, i32 b) {
    const double ratio = double(a) / double(b);
    return ratio >= -0x1p31 && ratio < 0x1p31 ? i32(ratio) : i32(0x80000000U);
}
FOVEA_INLINE ints divide_whole(ints a, ints b) {
    i32 of_a[kLanes], of_b[kLanes];
    store(of_a, a), store(of_b, b);
    for (i64 k = 0; k < kLanes; ++k) of_a[k] = divide_whole(of_a[k], of_b[k]);
    return load(of_a);
}
/// A mask as 0 and 1.
FOVEA_INLINE floats mask_to_floats(ints mask) { return select(mask, splat(1.F), splat(0.F)); }
FOVEA_INLINE ints mask_to_ints(ints mask) { return mask & 1; }
FOVEA_INLINE ints splat_mask(bool value) { return splat(value ? -1 : 0); }

/// NaN where either is NaN; `larger` and `smaller` take less and look at the second alone.
FOVEA_INLINE floats maximum(floats a, floats b) { return select(a != a, a, larger(a, b)); }
FOVEA_INLINE floats minimum(floats a, floats b) { return select(a != a, a, smaller(a, b)); }
FOVEA_INLINE ints maximum(ints a, ints b) { return larger(a, b); }
FOVEA_INLINE ints minimum(ints a, ints b) { return smaller(a, b); }
FOVEA_INLINE float maximum(float a, float b) { return a > b || a != a ? a : b; }
FOVEA_INLINE float minimum(float a, float b) { return a < b || a != a ? a : b; }
FOVEA_INLINE i32 maximum(i32 a, i32 b) { return a > b ? a : b; }
FOVEA_INLINE i32 minimum(i32 a, i32 b) { return a < b ? a : b; }
FOVEA_INLINE constexpr i64 maximum(i64 a, i64 b) { return a > b ? a : b; }
FOVEA_INLINE constexpr i64 minimum(i64 a, i64 b) { return a < b ? a : b; }

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

template <class V, class T = int>
FOVEA_INLINE V keep(V value, AllLanes, T = {}) {
    return value;
}

/// `count` rounded up to whole vectors.
FOVEA_INLINE i64 whole_lanes(i64 count) { return (count + kLanes - 1) / kLanes * kLanes; }

/// Sum and maximum of 16 lanes, always in the same order: halves, quarters, pairs.
template <class V>
FOVEA_INLINE auto sum_across(V value) {
    return across(value, [](auto a, auto b) FOVEA_LAMBDA { return a + b; });
}
template <class V>
FOVEA_INLINE auto larger_across(V value) {
    return across(value, [](auto a, auto b) FOVEA_LAMBDA { return larger(a, b); });
}
/// NaN where a lane is NaN.
template <class V>
FOVEA_INLINE auto max_across(V value) {
    if constexpr (std::is_same_v<V, floats>)
        if (any_lane(value != value)) return __builtin_nanf("");
    return larger_across(value);
}

/// Rows to columns: lane j of vector i becomes lane i of vector j.
FOVEA_INLINE void transpose(floats (&rows)[16]) {
    floats other[16];
    FOVEA_UNROLL for (int round = 0; round < 2; ++round) {
        FOVEA_UNROLL for (int i = 0; i < 8; ++i) {
            other[2 * i] = interleave_lower(rows[i], rows[i + 8]);
            other[2 * i + 1] = interleave_upper(rows[i], rows[i + 8]);
        }
        FOVEA_UNROLL for (int i = 0; i < 8; ++i) {
            rows[2 * i] = interleave_lower(other[i], other[i + 8]);
            rows[2 * i + 1] = interleave_upper(other[i], other[i + 8]);
        }
    }
}

/// to[i * to_stride + j] = from[j * from_stride + i] for the rows i and columns j that take part.
template <class T>
inline FOVEA_SHARED void copy_transposed(T* to, i64 to_stride, const float* from, i64 from_stride,
                                         Lanes rows, Lanes columns) {
    floats square[kLanes];
    FOVEA_UNROLL for (i64 j = 0; j < kLanes; ++j) square[j] =
        j < columns.count ? load(from + j * from_stride, rows) : floats{};
    transpose(square);
    FOVEA_UNROLL for (i64 i = 0; i < kLanes; ++i) if (i < rows.count)
        store(to + i * to_stride, square[i], columns);
}

/// The same to a panel, whose next rows are copied next: what they are read from is fetched ahead.
template <class T>
inline void copy_to_panel(T* to, i64 to_stride, const float* from, i64 from_stride, Lanes rows,
                          Lanes columns) {
    constexpr i64 kAhead = 8 * kLanes;
    for (i64 j = 0; j < columns.count; ++j) __builtin_prefetch(from + j * from_stride + kAhead);
    copy_transposed(to, to_stride, from, from_stride, rows, columns);
}

}  // namespace fovea::cpu::inline FOVEA_ISA
