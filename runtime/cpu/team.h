// The threads of one parallel region, and how they wait for each other between kernels.
#pragma once

#include <omp.h>

#include <atomic>

#include "../threads.h"
#include "vector.h"

namespace fovea::cpu::inline FOVEA_ISA {

/// A barrier that costs a fraction of OpenMP's: a kernel of a small model takes microseconds.
/// Threads spin for about as long as it takes to put one to sleep and wake it; where threads share
/// processors, they sleep at once.
class Team {
  public:
    /// Returns when every thread of the region has called it as often as this one.
    void wait() {
        const int threads = omp_get_num_threads();
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

  private:
    static constexpr long kSpins = 20000;
    static void pause() {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }

    const int processors_ = runtime::processor_count();
    alignas(64) std::atomic<int> arrived_{0};
    alignas(64) std::atomic<unsigned> round_{0};
};

}  // namespace fovea::cpu::inline FOVEA_ISA
