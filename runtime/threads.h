// The number of threads that generated programs use, and where they run.
#pragma once

#include <cstdint>

namespace fovea::runtime {

/// UserError unless 1 <= count <= 1024.
void verify_thread_count(std::int64_t count);

/// Sets the number of OpenMP threads for every later parallel region, exactly (no dynamic
/// adjustment). Where the process may use the whole machine and there is a thread for each core,
/// each is bound to one, until `unbind_this_thread`. UserError unless 1 <= count <= 1024.
void set_threads(std::int64_t count);

/// The number of threads a parallel region gets: that of `set_threads`, else of OMP_NUM_THREADS,
/// else one per core that this process may use; 1 without OpenMP, and where the team is lost.
int thread_count();

/// The cores that this process may use, at least 1: those of its start, whatever a thread is bound
/// to since.
int processor_count();

/// The threads that find a free core when `others` are running on `processors`: at least 1, at most
/// `threads`.
int threads_beside(int threads, int processors, int others);

/// Runs of other processes' threads on this machine, now: by /proc/loadavg, less `own`; 0 where it
/// cannot be read.
int running_others(int own);

/// A number of threads of a session, where 0 is for as many as OpenMP has; UserError for another
/// one that is none (verify_thread_count).
int checked_threads(int count);

class RegionThreads;

/// For as long as this lives, parallel regions that this thread begins have `count` threads of
/// OpenMP's, 0: as many as without it; or, where there are others, those. A region within one of a
/// caller's threads, of a session that has none of them, is OpenMP's again.
class ThreadsOfRegions {
  public:
    ThreadsOfRegions(int count, RegionThreads* others);
    ~ThreadsOfRegions();
    ThreadsOfRegions(const ThreadsOfRegions&) = delete;

  private:
    int before_ = 0;
    RegionThreads* const others_before_;
};

/// For as long as this lives, later parallel regions have as many threads as find a free core, when
/// cores turned out to be shared (`cores_are_shared`): a thread that others keep from its core
/// holds up all that wait for it. Results do not depend on the number.
class ThreadsBesideOthers {
  public:
    ThreadsBesideOthers();

  private:
    ThreadsOfRegions threads_;
};

/// This thread runs on any core again, when `set_threads` bound it: others use this machine, too,
/// and a bound thread waits for its core while another one is idle.
void unbind_this_thread();

}  // namespace fovea::runtime
