// The barrier: a counter of arrivals, and the number of the round that waits.
#include "team.h"

#include "threads.h"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace fovea::runtime {

namespace {

constexpr long kSpins = 20000;

void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

}  // namespace

Team::Team() : processors_(processor_count()) {}

Part Team::part() {
#ifdef _OPENMP
    return {omp_get_thread_num(), omp_get_num_threads()};
#else
    return {};
#endif
}

void Team::wait() {
    const int threads = part().count;
    if (threads == 1) return;
    const unsigned round = round_.load(std::memory_order_relaxed);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) == threads - 1) {
        arrived_.store(0, std::memory_order_relaxed);
        round_.store(round + 1, std::memory_order_release);
        round_.notify_all();
        return;
    }
    const long spins = threads > processors_ ? 0 : kSpins;
    for (long spin = 0; spin < spins; ++spin) {
        if (round_.load(std::memory_order_acquire) != round) return;
        pause();
    }
    while (round_.load(std::memory_order_acquire) == round) round_.wait(round);
}

}  // namespace fovea::runtime
