#include "region.h"

#include "openmp.h"

namespace fovea::runtime {

bool region_is_alone() {
    return omp_get_max_threads() == 1 && omp_get_num_threads() == 1 && !region_threads();
}

void run_region(Team& team, void (*work)(void* state), void* state) {
    if (RegionThreads* threads = region_threads()) return threads->run(team, work, state);
#pragma omp parallel
    {
        const TeamMember member(team, {omp_get_thread_num(), omp_get_num_threads()});
        work(state);
    }
}

}  // namespace fovea::runtime
