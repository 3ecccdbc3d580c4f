#include "region.h"

#include "lost_team.h"
#include "openmp.h"

namespace fovea::runtime {

bool region_is_alone() {
    if (region_threads()) return false;
    return team_is_lost() || (omp_get_max_threads() == 1 && omp_get_num_threads() == 1);
}

void run_region(Team& team, void (*work)(void* state), void* state) {
    if (RegionThreads* threads = region_threads()) return threads->run(team, work, state);
    note_team();
#pragma omp parallel if (!team_is_lost())
    {
        const TeamMember member(team, {omp_get_thread_num(), omp_get_num_threads()});
        work(state);
    }
}

}  // namespace fovea::runtime
