// What the programs of a generated model use around their kernels: tensors by number, and the
// observer.
#pragma once

#include "../call.h"
#include "team.h"
#include "vector.h"

namespace fovea::cpu::inline FOVEA_ISA {

/// Tensor `number` of a call, in the order of Call::tensors.
template <class T>
inline T* tensor(const runtime::Call& call, int number) {
    return static_cast<T*>(call.tensors[number]);
}

/// Inside the parallel region, after kernel number `kernel`: when all have finished it, one thread
/// calls the observer, and the others wait until it is done.
inline void observe(const runtime::Call& call, int kernel) {
    if (!call.observe) return;
#pragma omp barrier
#pragma omp single
    call.observe(call.observe_state, kernel);
}

}  // namespace fovea::cpu::inline FOVEA_ISA
