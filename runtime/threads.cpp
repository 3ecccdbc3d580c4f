// Thread counts through OpenMP.
#include "threads.h"

#include <string>

#include "error.h"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace fovea::runtime {

void set_threads(std::int64_t count) {
    constexpr std::int64_t kMost = 1024;
    if (count < 1 || count > kMost) {
        throw UserError("the number of threads should be from 1 to " + std::to_string(kMost) +
                        ", but is " + std::to_string(count));
    }
#ifdef _OPENMP
    omp_set_dynamic(0);
    omp_set_num_threads(static_cast<int>(count));
#endif
}

int thread_count() {
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

}  // namespace fovea::runtime
