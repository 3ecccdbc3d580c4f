// What NEON has an instruction for, on vectors of several of its registers of four lanes. On other
// machines this file is empty.
#pragma once

#include "registers.h"

#if defined(__aarch64__)

#include <arm_neon.h>

namespace fovea::cpu::inline FOVEA_ISA {

/// a * b + c, rounded once.
template <class V>
FOVEA_INLINE V neon_multiply_add(V a, V b, V c) {
    if constexpr (kIsTwice<V>)
        return {neon_multiply_add(a.low, b.low, c.low), neon_multiply_add(a.high, b.high, c.high)};
    else return V(vfmaq_f32(float32x4_t(c), float32x4_t(a), float32x4_t(b)));
}

#define FOVEA_FUNCTION(name, instruction)                              \
    template <class V>                                                 \
    FOVEA_INLINE V name(V x) {                                         \
        if constexpr (kIsTwice<V>) return {name(x.low), name(x.high)}; \
        else return V(instruction(float32x4_t(x)));                    \
    }
/// The nearest whole number, the even one of two; the largest below; the smallest above.
FOVEA_FUNCTION(neon_round, vrndnq_f32)
FOVEA_FUNCTION(neon_floor, vrndmq_f32)
FOVEA_FUNCTION(neon_ceil, vrndpq_f32)
FOVEA_FUNCTION(neon_sqrt, vsqrtq_f32)
#undef FOVEA_FUNCTION

/// The values of float16 that `bits` are, and the nearest ones of float16.
template <class To, class From>
FOVEA_INLINE To neon_of_float16(From bits) {
    if constexpr (kIsTwice<To>)
        return {neon_of_float16<decltype(To::low)>(bits.low),
                neon_of_float16<decltype(To::high)>(bits.high)};
    else return To(vcvt_f32_f16(float16x4_t(bits)));
}
template <class To, class From>
FOVEA_INLINE To neon_to_float16(From value) {
    if constexpr (kIsTwice<To>)
        return {neon_to_float16<decltype(To::low)>(value.low),
                neon_to_float16<decltype(To::high)>(value.high)};
    else return To(vcvt_f16_f32(float32x4_t(value)));
}

#if defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC)
/// sum + a.first * b.first + a.second * b.second of pairs of bfloat16.
template <class Words, class V>
FOVEA_INLINE V neon_add_pairs(Words a, Words b, V sum) {
    if constexpr (kIsTwice<V>)
        return {neon_add_pairs(a.low, b.low, sum.low), neon_add_pairs(a.high, b.high, sum.high)};
    else
        return V(vbfdotq_f32(float32x4_t(sum), vreinterpretq_bf16_u32(uint32x4_t(a)),
                             vreinterpretq_bf16_u32(uint32x4_t(b))));
}
#endif

/// The 64-bit products of the lower halves of lanes of 64 bits with `b`.
template <class V>
FOVEA_INLINE V neon_multiply_words(V a, std::uint32_t b) {
    return V(vmull_u32(vmovn_u64(uint64x2_t(a)), vdup_n_u32(b)));
}

}  // namespace fovea::cpu::inline FOVEA_ISA

#endif
