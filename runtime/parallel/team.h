// The threads of one parallel region: their numbers, what of a loop each takes, and how they wait
// for each other.
#pragma once

#include <cstdint>

namespace fovea::runtime {

/// Which share of some work a thread has: `index` of `count`.
struct Part {
    int index = 0, count = 1;
};

/// A barrier that costs a fraction of OpenMP's: a kernel of a small model takes microseconds. A
/// thread that waits spins for some microseconds, then gives its core to whoever wants it, then
/// sleeps. Where there are more threads than cores, it gives up its core at once; where others turn
/// out to use the cores, it sleeps soon and is bound to no core. Made outside the region, used by
/// all its threads, each of which joins it.
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
    /// was, is left to the barrier at the region's end, which follows anyway; in others it would
    /// keep the waiting threads' cores for milliseconds, so they wait here.
    void end();
    /// Whether threads can wait for each other: not with a C++ library that lacks std::atomic_ref,
    /// as WebAssembly's. Teams are then of one thread.
    static bool can_wait();
    /// This thread's share of the work of the team that it has joined; outside of teams, all.
    static Part part();
    /// Returns when every thread of this thread's team has called it as often; at once outside.
    static void wait_for_all();
    /// Points of a loop that all threads of this thread's team run through: the next `at_once` of
    /// `count` that no thread has taken, none when begin == end.
    struct Points {
        std::int64_t begin, end;
    };
    static Points take(std::uint32_t loop, std::int64_t at_once, std::int64_t count);
    /// The number of such a loop, at its begin, the same in all threads; 0: this thread is alone.
    static std::uint32_t next_loop();

  private:
    friend class TeamMember;
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
    // The number of a loop, and how many of its points are taken: 32 bits each.
    alignas(64) std::uint64_t taken_ = 0;
};

/// For as long as it lives, this thread is one of a team, as that part; or, without a team, alone.
class TeamMember {
  public:
    TeamMember() : TeamMember(nullptr, {}) {}
    TeamMember(Team& team, Part part) : TeamMember(&team, part) {}
    ~TeamMember();
    TeamMember(const TeamMember&) = delete;

  private:
    friend class Team;
    TeamMember(Team* team, Part part);

    Team* const team_;
    const Part part_;
    std::uint32_t loops_ = 0;  // this many were begun
    TeamMember* const before_;
};

/// Whether others were found on this process's cores in the last tenth of a second: a thread that
/// yielded got its core back late.
bool cores_are_shared();
/// Notes that they are, now.
void note_shared_cores();

}  // namespace fovea::runtime
