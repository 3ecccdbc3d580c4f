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
#else
    return a * b + c;
#endif
}

}  // namespace fovea::cpu::inline FOVEA_ISA
