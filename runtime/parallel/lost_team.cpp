#include "lost_team.h"

#include <atomic>

#include "openmp.h"

#ifdef __linux__
#include <pthread.h>
#endif

namespace fovea::runtime {

namespace {

thread_local bool has_team = false, is_lost = false;

}  // namespace

void note_team() {
#if defined(_OPENMP) && defined(__linux__)
    if (has_team || omp_get_max_threads() == 1) return;
    has_team = true;
    static std::atomic_flag is_registered;
    if (!is_registered.test_and_set()) pthread_atfork(nullptr, nullptr, [] { is_lost = has_team; });
#endif
}

bool team_is_lost() { return is_lost; }

}  // namespace fovea::runtime
