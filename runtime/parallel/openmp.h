// What kernels ask of OpenMP; where the compiler has none, as for WebAssembly, there is one thread.
#pragma once

#ifdef _OPENMP
#include <omp.h>
#else
inline int omp_get_num_threads() { return 1; }
inline int omp_get_max_threads() { return 1; }
inline int omp_get_thread_num() { return 0; }
#endif
