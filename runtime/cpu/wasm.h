// What WebAssembly has an instruction for, on vectors of several of its registers of four lanes. On
// other machines this file is empty.
#pragma once

#include "registers.h"

#if defined(__wasm_simd128__)

namespace fovea::cpu::inline FOVEA_ISA {

#define FOVEA_FUNCTION(name, instruction)                              \
    template <class V>                                                 \
    FOVEA_INLINE V name(V x) {                                         \
        if constexpr (kIsTwice<V>) return {name(x.low), name(x.high)}; \
        else return V(instruction(v128_t(x)));                         \
    }
/// The nearest whole number, the even one of two; the largest below; the smallest above.
FOVEA_FUNCTION(wasm_round, wasm_f32x4_nearest)
FOVEA_FUNCTION(wasm_floor, wasm_f32x4_floor)
FOVEA_FUNCTION(wasm_ceil, wasm_f32x4_ceil)
FOVEA_FUNCTION(wasm_sqrt, wasm_f32x4_sqrt)
#undef FOVEA_FUNCTION

}  // namespace fovea::cpu::inline FOVEA_ISA

#endif
