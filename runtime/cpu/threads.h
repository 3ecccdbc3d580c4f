// How the threads of the one parallel region share a kernel's work. Kernels are right, too, when
// they are called outside any region: the team then has one thread.
#pragma once

#include "../memory/scratch.h"
#include "../parallel/openmp.h"
#include "vector.h"

namespace fovea::cpu::inline FOVEA_ISA {

struct Range {
    i64 begin, end;
};

/// This thread's contiguous part of 0 to count - 1.
inline Range my_share(i64 count) {
    const i64 threads = omp_get_num_threads(), thread = omp_get_thread_num();
    return {count * thread / threads, count * (thread + 1) / threads};
}

/// The same with a begin that is a multiple of 16: no vector is split between threads.
inline Range my_lanes(i64 extent) {
    const Range vectors = my_share((extent + kLanes - 1) / kLanes);
    const i64 end = vectors.end * kLanes;
    return {vectors.begin * kLanes, end < extent ? end : extent};
}

using runtime::scratch;

}  // namespace fovea::cpu::inline FOVEA_ISA
