// Sixteen lanes in one register of the machine, or in two or four: the types, their operators, and
// what must know how many there are. Everything else in this folder is written once for all.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
#else
#include "intrinsics.h"
#endif

// Vectors wider than the machine's are passed within one translation unit only, so their ABI is no
// matter.
#pragma GCC diagnostic ignored "-Wpsabi"

// One namespace per instruction set, so that a program can hold the same kernel for several. It is
// that of the compilation: -march=x86-64-v4 with -mavx512vnni, -mavx512bf16 and -mamx-bf16, with
// the first ones of these, with none; x86-64-v3, x86-64; any aarch64, all of which have NEON, with
// -march=armv8.2-a+bf16 or without; WebAssembly with -msimd128. With FOVEA_PORTABLE_BITS kernels
// give the same bits on all machines that fuse a product and a sum; only those of `multiply_add`
// are then fused, which -ffp-contract=off says.
#if defined(FOVEA_PORTABLE_BITS) && defined(__AVX512F__)
#define FOVEA_ISA avx512_portable
#elif defined(FOVEA_PORTABLE_BITS) && defined(__AVX2__) && defined(__FMA__)
#define FOVEA_ISA avx2_portable
#elif defined(FOVEA_PORTABLE_BITS) && defined(__aarch64__)
#define FOVEA_ISA neon_portable
#elif defined(FOVEA_PORTABLE_BITS)
#error "portable bits take an instruction set that fuses a product and a sum"
#elif defined(__AMX_BF16__)
#define FOVEA_ISA amx_bf16
#elif defined(__AVX512BF16__)
#define FOVEA_ISA avx512_bf16
#elif defined(__AVX512VNNI__)
#define FOVEA_ISA avx512_vnni
#elif defined(__AVX512F__)
#define FOVEA_ISA avx512
#elif defined(__AVX2__) && defined(__FMA__)
#define FOVEA_ISA avx2
#elif defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC)
#define FOVEA_ISA neon_bf16
#elif defined(__aarch64__)
#define FOVEA_ISA neon
#elif defined(__wasm_simd128__)
#define FOVEA_ISA wasm
#else
#define FOVEA_ISA baseline
#endif

// Whether an instruction multiplies pairs of bfloat16 and adds both products to a sum.
#if defined(__AVX512BF16__) || defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC)
#define FOVEA_MULTIPLIES_PAIRS
#endif

// Without optimisation a copy at each call takes the compiler three times as long for nothing.
#if defined(__OPTIMIZE__)
#define FOVEA_INLINE inline __attribute__((always_inline))
#define FOVEA_LAMBDA __attribute__((always_inline))
#else
#define FOVEA_INLINE inline
#define FOVEA_LAMBDA
#endif
#define FOVEA_UNROLL _Pragma("GCC unroll 32")
#if defined(__clang__)
#define FOVEA_SHARED
#else
// A kernel that several steps call: g++ would copy it for each constant that they give.
#define FOVEA_SHARED __attribute__((noclone))
#endif

namespace fovea::cpu::inline FOVEA_ISA {

using i64 = std::int64_t;
using i32 = std::int32_t;

inline constexpr i64 kLanes = 16;
#if defined(FOVEA_PORTABLE_BITS)
inline constexpr bool kPortableBits = true;
#else
inline constexpr bool kPortableBits = false;
#endif

/// How many lanes of 32 bits a register holds, and how many vectors of 16 lanes the registers hold.
#if defined(__AVX512F__)
inline constexpr int kRegisterLanes = 16, kRegisterVectors = 32;
#elif defined(__AVX2__)
inline constexpr int kRegisterLanes = 8, kRegisterVectors = 8;
#elif defined(__aarch64__)
inline constexpr int kRegisterLanes = 4, kRegisterVectors = 8;
#else
inline constexpr int kRegisterLanes = 4, kRegisterVectors = 4;
#endif

template <class T, int Lanes>
struct RegisterOf {
    typedef T type __attribute__((vector_size(Lanes * sizeof(T))));
};
/// A vector of the compiler.
template <class T, int Lanes>
using Register = typename RegisterOf<T, Lanes>::type;

/// What comparing vectors gives: whole numbers as wide as the elements.
template <class V>
struct MaskOf {
    using type = std::remove_cvref_t<decltype(std::declval<V>() < std::declval<V>())>;
};
#if defined(__wasm_simd128__)  // where the compiler takes `long` for 32 bits
template <>
struct MaskOf<Register<float, 4>> : RegisterOf<i32, 4> {};
template <>
struct MaskOf<Register<i32, 4>> : RegisterOf<i32, 4> {};
template <>
struct MaskOf<Register<std::uint32_t, 4>> : RegisterOf<i32, 4> {};
#endif

/// The lanes of two vectors, one after the other. It has the operators of the compiler's vectors:
/// comparisons give masks (-1 true, 0 false), a number stands for that number in every lane.
template <class Half>
struct Twice {
    using Element = std::remove_cvref_t<decltype(std::declval<Half&>()[0])>;
    using Mask = Twice<typename MaskOf<Half>::type>;
    Half low, high;

    /// The same bits as lanes of another type.
    template <class Other>
    FOVEA_INLINE explicit operator Twice<Other>() const {
        return {Other(low), Other(high)};
    }
    FOVEA_INLINE Element& operator[](i64 lane) { return reinterpret_cast<Element*>(this)[lane]; }
    FOVEA_INLINE Element operator[](i64 lane) const {
        return reinterpret_cast<const Element*>(this)[lane];
    }
    FOVEA_INLINE Twice operator-() const { return {-low, -high}; }
    FOVEA_INLINE Twice operator~() const { return {~low, ~high}; }

#define FOVEA_OPERATOR(Result, op)                               \
    FOVEA_INLINE friend Result operator op(Twice a, Twice b) {   \
        return {a.low op b.low, a.high op b.high};               \
    }                                                            \
    FOVEA_INLINE friend Result operator op(Twice a, Element b) { \
        return {a.low op b, a.high op b};                        \
    }                                                            \
    FOVEA_INLINE friend Result operator op(Element a, Twice b) { return {a op b.low, a op b.high}; }
#define FOVEA_ARITHMETIC(op)                                                             \
    FOVEA_OPERATOR(Twice, op)                                                            \
    FOVEA_INLINE friend Twice& operator op##=(Twice & a, Twice b) { return a = a op b; } \
    FOVEA_INLINE friend Twice& operator op##=(Twice & a, Element b) { return a = a op b; }
    FOVEA_ARITHMETIC(+)
    FOVEA_ARITHMETIC(-)
    FOVEA_ARITHMETIC(*)
    FOVEA_ARITHMETIC(/)
    FOVEA_ARITHMETIC(&)
    FOVEA_ARITHMETIC(|)
    FOVEA_ARITHMETIC(^)
    FOVEA_ARITHMETIC(<<)
    FOVEA_ARITHMETIC(>>)
    FOVEA_OPERATOR(Mask, <)
    FOVEA_OPERATOR(Mask, <=)
    FOVEA_OPERATOR(Mask, >)
    FOVEA_OPERATOR(Mask, >=)
    FOVEA_OPERATOR(Mask, ==)
    FOVEA_OPERATOR(Mask, !=)
#undef FOVEA_ARITHMETIC
#undef FOVEA_OPERATOR
};

template <class T, int Lanes>
struct VectorOf {
    using type = Twice<typename VectorOf<T, Lanes / 2>::type>;
};
template <class T, int Lanes>
    requires(Lanes <= kRegisterLanes)
struct VectorOf<T, Lanes> : RegisterOf<T, Lanes> {};
template <class T>
using Vector = typename VectorOf<T, int(kLanes)>::type;

using floats = Vector<float>;
using ints = Vector<i32>;  // also masks: -1 true, 0 false
using words = Vector<std::uint32_t>;
using bytes = Vector<std::uint8_t>;
using halves = Vector<std::uint16_t>;

template <class V>
inline constexpr bool kIsTwice = false;
template <class Half>
inline constexpr bool kIsTwice<Twice<Half>> = true;

/// `value` in every lane.
template <class V, class T>
FOVEA_INLINE V splat_as(T value) {
    if constexpr (kIsTwice<V>) {
        const auto half = splat_as<decltype(V::low)>(value);
        return {half, half};
    } else {
        return value - V{};  // 0 + value would be an addition: it makes -0 to 0
    }
}

/// a where the mask is true, b elsewhere.
template <class Mask, class V>
FOVEA_INLINE V blend(Mask mask, V a, V b) {
    if constexpr (kIsTwice<V>)
        return {blend(mask.low, a.low, b.low), blend(mask.high, a.high, b.high)};
    else return mask ? a : b;
}

/// a where it is larger (smaller) than b, b elsewhere, also where one of them is NaN.
template <class V>
FOVEA_INLINE V larger(V a, V b) {
    using Mask [[maybe_unused]] = typename MaskOf<V>::type;
    if constexpr (kIsTwice<V>) return {larger(a.low, b.low), larger(a.high, b.high)};
#if defined(__AVX512F__)
    else if constexpr (sizeof(V) == 64 && !std::is_same_v<V, Mask>)
        return V(_mm512_maskz_max_ps(0xffff, __m512(a), __m512(b)));
#endif
#if defined(__AVX2__)
    else if constexpr (sizeof(V) == 32 && !std::is_same_v<V, Mask>)
        return V(_mm256_max_ps(__m256(a), __m256(b)));
#endif
#if defined(__SSE2__)
    else if constexpr (sizeof(V) == 16 && !std::is_same_v<V, Mask>)
        return V(_mm_max_ps(__m128(a), __m128(b)));
#endif
#if defined(__wasm_simd128__)
    else if constexpr (sizeof(V) == 16 && !std::is_same_v<V, Mask>)
        return V(wasm_f32x4_pmax(v128_t(b), v128_t(a)));
#endif
    else return a > b ? a : b;
}
template <class V>
FOVEA_INLINE V smaller(V a, V b) {
    using Mask [[maybe_unused]] = typename MaskOf<V>::type;
    if constexpr (kIsTwice<V>) return {smaller(a.low, b.low), smaller(a.high, b.high)};
#if defined(__AVX512F__)
    else if constexpr (sizeof(V) == 64 && !std::is_same_v<V, Mask>)
        return V(_mm512_maskz_min_ps(0xffff, __m512(a), __m512(b)));
#endif
#if defined(__AVX2__)
    else if constexpr (sizeof(V) == 32 && !std::is_same_v<V, Mask>)
        return V(_mm256_min_ps(__m256(a), __m256(b)));
#endif
#if defined(__SSE2__)
    else if constexpr (sizeof(V) == 16 && !std::is_same_v<V, Mask>)
        return V(_mm_min_ps(__m128(a), __m128(b)));
#endif
#if defined(__wasm_simd128__)
    else if constexpr (sizeof(V) == 16 && !std::is_same_v<V, Mask>)
        return V(wasm_f32x4_pmin(v128_t(b), v128_t(a)));
#endif
    else return a < b ? a : b;
}

/// Whether a mask is true in some lane.
template <class Mask>
FOVEA_INLINE bool any_lane(Mask mask) {
    if constexpr (kIsTwice<Mask>) return any_lane(mask.low | mask.high);
#if defined(__AVX512F__)
    else if constexpr (sizeof(Mask) == 64)
        return _mm512_test_epi32_mask(__m512i(mask), __m512i(mask)) != 0;
#endif
#if defined(__AVX2__)
    else if constexpr (sizeof(Mask) == 32) return !_mm256_testz_si256(__m256i(mask), __m256i(mask));
#endif
#if defined(__SSE2__)
    else if constexpr (sizeof(Mask) == 16) return _mm_movemask_epi8(__m128i(mask)) != 0;
#endif
#if defined(__aarch64__)
    else if constexpr (sizeof(Mask) == 16) return vmaxvq_u32(uint32x4_t(mask)) != 0;
#endif
#if defined(__wasm_simd128__)
    else if constexpr (sizeof(Mask) == 16) return wasm_v128_any_true(v128_t(mask));
#endif
    else return across(mask, [](auto a, auto b) { return a | b; }) != 0;
}

/// The lanes as numbers of another type.
template <class To, class From>
FOVEA_INLINE To convert(From from) {
    if constexpr (kIsTwice<To>)
        return {convert<decltype(To::low)>(from.low), convert<decltype(To::high)>(from.high)};
#if defined(__AVX512F__)  // g++ 12 widens one half after the other
    else if constexpr (std::is_same_v<To, Register<std::uint32_t, 16>> && sizeof(From) == 32)
        return To(_mm512_maskz_cvtepu16_epi32(0xffff, __m256i(from)));
    else if constexpr (std::is_same_v<To, Register<double, 8>> && sizeof(From) == 32)
        return To(_mm512_maskz_cvtps_pd(0xff, __m256(from)));
#endif
    else return __builtin_convertvector(from, To);
}

/// The lanes from memory and to memory, one after the other.
template <class V, class T>
FOVEA_INLINE V load_as(const T* from) {
    if constexpr (kIsTwice<V>) {
        constexpr i64 kHalf = sizeof(V) / sizeof(T) / 2;
        return {load_as<decltype(V::low)>(from), load_as<decltype(V::high)>(from + kHalf)};
    } else {
        V result;
        std::memcpy(&result, from, sizeof result);
        return result;
    }
}
template <class V, class T>
FOVEA_INLINE void store_as(T* to, V value) {
    if constexpr (kIsTwice<V>) {
        store_as(to, value.low);
        store_as(to + sizeof(V) / sizeof(T) / 2, value.high);
    } else {
        std::memcpy(to, &value, sizeof value);
    }
}

/// combine(the first half of the lanes, the second half), again and again until one is left.
template <class V, class Combine>
FOVEA_INLINE auto across(V value, Combine combine) {
    if constexpr (kIsTwice<V>) {
        return across(combine(value.low, value.high), combine);
    } else if constexpr (sizeof(V) == 64) {
        return across(combine(__builtin_shufflevector(value, value, 0, 1, 2, 3, 4, 5, 6, 7),
                              __builtin_shufflevector(value, value, 8, 9, 10, 11, 12, 13, 14, 15)),
                      combine);
    } else if constexpr (sizeof(V) == 32) {
        return across(combine(__builtin_shufflevector(value, value, 0, 1, 2, 3),
                              __builtin_shufflevector(value, value, 4, 5, 6, 7)),
                      combine);
    } else {
        value = combine(value, __builtin_shufflevector(value, value, 2, 3, 0, 1));
        value = combine(value, __builtin_shufflevector(value, value, 1, 0, 3, 2));
        return value[0];
    }
}

template <class V>
inline constexpr int kLanesOf = int(sizeof(V) / sizeof(V{}[0]));

/// The lower half of the lanes of a and b in turn: a0, b0, a1, b1, …; and the upper half.
template <class V>
FOVEA_INLINE V interleave_upper(V a, V b);
template <class V>
FOVEA_INLINE V interleave_lower(V a, V b) {
    if constexpr (kIsTwice<V>)
        return {interleave_lower(a.low, b.low), interleave_upper(a.low, b.low)};
    else if constexpr (kLanesOf<V> == 16)
        return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7,
                                       23);
    else if constexpr (kLanesOf<V> == 8)
        return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
    else if constexpr (kLanesOf<V> == 4) return __builtin_shufflevector(a, b, 0, 4, 1, 5);
    else return __builtin_shufflevector(a, b, 0, 2);
}
template <class V>
FOVEA_INLINE V interleave_upper(V a, V b) {
    if constexpr (kIsTwice<V>)
        return {interleave_lower(a.high, b.high), interleave_upper(a.high, b.high)};
    else if constexpr (kLanesOf<V> == 16)
        return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30,
                                       15, 31);
    else if constexpr (kLanesOf<V> == 8)
        return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
    else if constexpr (kLanesOf<V> == 4) return __builtin_shufflevector(a, b, 2, 6, 3, 7);
    else return __builtin_shufflevector(a, b, 1, 3);
}

/// The sums over the lanes of up to 16 vectors, one in each lane: halves of two vectors at a time.
/// A vector that has no other is its own, and so lanes behind the last sum have any numbers.
template <int Count>
FOVEA_INLINE floats sums_across(const floats* vectors) {
    static_assert(Count <= kLanes);
    floats part[Count];
    FOVEA_UNROLL for (int i = 0; i < Count; ++i) part[i] = vectors[i];
    FOVEA_UNROLL for (int half = int(kLanes) / 2; half > 0; half /= 2)
        FOVEA_UNROLL for (int i = 0; i < half; ++i) if (i < Count) {
        const floats other = part[i + half < Count ? i + half : i];
        part[i] = interleave_lower(part[i], other) + interleave_upper(part[i], other);
    }
    return part[0];
}

/// A vector that several instructions use, loaded once. Compilers read it where each of them
/// stands, and then loads take longer than what is computed, the more so from across two lines of
/// the cache. So they are not told that the vector is in memory.
template <class V>
FOVEA_INLINE V in_register(V value) {
#if !defined(__wasm_simd128__)  // which has no registers
    if constexpr (!kIsTwice<V>) asm("" : "+v"(value));
#endif
    return value;
}

}  // namespace fovea::cpu::inline FOVEA_ISA
