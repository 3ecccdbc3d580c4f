// The threads of one parallel region: their numbers, and how they wait for each other.
#pragma once

#include <atomic>

namespace fovea::runtime {

/// Which share of some work a thread has: `index` of `count`.
struct Part {
    int index = 0, count = 1;
};

/// A barrier that costs a fraction of OpenMP's: a kernel of a small model takes microseconds.
/// Threads spin for about as long as it takes to put one to sleep and wake it; where threads share
/// processors, they sleep at once. Made outside the region, used by all its threads.
class Team {
  public:
    Team();

    /// Returns when every thread of the region has called it as often as this one.
    void wait();
    /// This thread's share of the region's work.
    static Part part();

  private:
    const int processors_;
    alignas(64) std::atomic<int> arrived_{0};
    alignas(64) std::atomic<unsigned> round_{0};
};

}  // namespace fovea::runtime
