// The threads of one parallel region: their numbers, and how they wait for each other.
#pragma once

namespace fovea::runtime {

/// Which share of some work a thread has: `index` of `count`.
struct Part {
    int index = 0, count = 1;
};

/// A barrier that costs a fraction of OpenMP's: a kernel of a small model takes microseconds. A
/// thread that waits spins for some microseconds, then gives its core to whoever wants it, then
/// sleeps. Where there are more threads than cores, it gives up its core at once; where others turn
/// out to use the cores, it sleeps soon and is bound to no core. Made outside the region, used by
/// all its threads.
class Team {
  public:
    Team();
    /// Of the one thread that runs all, in no region: it waits for nobody, and reads no clock.
    static Team alone() { return Team(0); }
    ~Team();
    Team(const Team&) = delete;

    /// Returns when every thread of the region has called it as often as this one.
    void wait();
    /// Called by every thread as the last thing in the region. A short region, as the one before
    /// was, is left to OpenMP's barrier, which follows anyway; in others it would keep the waiting
    /// threads' cores for milliseconds, so they wait here.
    void end();
    /// This thread's share of the region's work.
    static Part part();

  private:
    explicit Team(long long begun);
    unsigned round();
    bool spin(unsigned before);
    bool yield(unsigned before);

    const int processors_;
    const long long begun_;  // ticks of the steady clock; 0: alone
    const bool is_short_;  // as far as the region before says
    long long arrived_at_end_ = 0;  // the first thread
    // By std::atomic_ref alone: <atomic> would take a compiler longer than most kernels do.
    alignas(64) int arrived_ = 0;
    alignas(64) unsigned round_ = 0;
};

/// Whether others were found on this process's cores in the last tenth of a second: a thread that
/// yielded got its core back late.
bool cores_are_shared();
/// Notes that they are, now.
void note_shared_cores();

}  // namespace fovea::runtime
