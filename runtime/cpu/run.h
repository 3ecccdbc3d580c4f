// What the programs of a generated model use around their kernels: tensors by number, the observer,
// and what the caller does at the end.
#pragma once

#include "../call.h"
#include "../parallel/team.h"
#include "vector.h"

namespace fovea::cpu::inline FOVEA_ISA {

using runtime::Team;

/// Tensor `number` of a call, in the order of Call::tensors.
template <class T>
inline T* tensor(const runtime::Call& call, int number) {
    return static_cast<T*>(call.tensors[number]);
}

/// Inside the parallel region, after kernel number `kernel`: when all have finished it, one thread
/// calls the observer, and the others wait until it is done.
__attribute__((noinline, cold)) inline void call_observer(const runtime::Call& call, int kernel) {
#pragma omp barrier
#pragma omp single
    call.observe(call.observe_state, kernel);
}
inline void observe(const runtime::Call& call, int kernel) {
    if (call.observe) call_observer(call, kernel);
}

/// Inside the parallel region, after the last kernel.
inline void finish(const runtime::Call& call, Team& team) {
    if (call.finish) {
        team.wait();
        call.finish(call.finish_state, team);
    }
    team.end();
}

}  // namespace fovea::cpu::inline FOVEA_ISA
