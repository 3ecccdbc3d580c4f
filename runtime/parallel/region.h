// A parallel region, whose threads are a team.
#pragma once

#include "team.h"

namespace fovea::runtime {

/// Threads that regions run on in the place of OpenMP's.
class RegionThreads {
  public:
    virtual ~RegionThreads() = default;
    /// Some threads at once, at least one, as the team's, call work(state).
    virtual void run(Team& team, void (*work)(void* state), void* state) = 0;
};

/// Those of the regions that this thread begins; null: OpenMP's.
RegionThreads* region_threads();

/// Whether a region that this thread began would be this thread alone.
bool region_is_alone();

/// Every thread of a parallel region, as one of the team, calls work(state).
void run_region(Team& team, void (*work)(void* state), void* state);

/// The same with work().
template <class Work>
void run_region(Team& team, Work work) {
    run_region(team, [](void* state) { (*static_cast<Work*>(state))(); }, &work);
}

}  // namespace fovea::runtime
