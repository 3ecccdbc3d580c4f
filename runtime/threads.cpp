// Thread counts through OpenMP, and where the threads run.
#include "threads.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "error.h"
#include "parallel/cores.h"
#include "parallel/lost_team.h"
#include "parallel/region.h"
#include "parallel/team.h"

#ifdef _OPENMP
#include <omp.h>
#endif
#ifdef __linux__
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>
#endif

namespace fovea::runtime {

namespace {

thread_local RegionThreads* other_threads = nullptr;  // than OpenMP's, for regions of this thread

bool any_is_bound = false;
bool count_is_set = false;

#if defined(_OPENMP) && defined(__linux__)
thread_local bool this_is_bound = false;

/// Those of the last count, before it changes: new threads run where the one that makes them may.
void unbind_threads() {
    if (!any_is_bound) return;
    note_team();
#pragma omp parallel
    unbind_this_thread();
    any_is_bound = false;
}

/// The kernel sometimes leaves two threads on one core: they then wait for each other at every
/// barrier, a time slice each. Where the program takes the whole machine, each thread gets a core
/// of its own.
void bind_threads(int count) {
    const std::vector<int>& processors = cores().allowed;
    const bool user_binds = std::getenv("OMP_PROC_BIND") || std::getenv("GOMP_CPU_AFFINITY");
    if (count < 2 || user_binds || !cores().whole_machine() ||
        processors.size() != static_cast<std::size_t>(count))
        return;
    note_team();
#pragma omp parallel num_threads(count)
    {
        cpu_set_t own;
        CPU_ZERO(&own);
        CPU_SET(processors[static_cast<std::size_t>(omp_get_thread_num())], &own);
        this_is_bound = sched_setaffinity(0, sizeof own, &own) == 0;
    }
    any_is_bound = true;
}
#else
void bind_threads(int) {}
void unbind_threads() {}
#endif

}  // namespace

void unbind_this_thread() {
#if defined(_OPENMP) && defined(__linux__)
    if (!this_is_bound) return;
    cpu_set_t all;
    CPU_ZERO(&all);
    for (int processor : cores().allowed) CPU_SET(processor, &all);
    sched_setaffinity(0, sizeof all, &all);
    this_is_bound = false;
#endif
}

void verify_thread_count(std::int64_t count) {
    constexpr std::int64_t kMost = 1024;
    if (count < 1 || count > kMost)
        throw UserError("the number of threads should be from 1 to {}, but is {}", {kMost, count});
}

int checked_threads(int count) {
    if (count != 0) verify_thread_count(count);
    return count;
}

void set_threads(std::int64_t count) {
    verify_thread_count(count);
    if (team_is_lost()) return;
    processor_count();  // before a thread is bound
    unbind_threads();
    count_is_set = true;
#ifdef _OPENMP
    omp_set_dynamic(0);
    omp_set_num_threads(static_cast<int>(count));
#endif
    bind_threads(static_cast<int>(count));
}

int threads_beside(int threads, int processors, int others) {
    return std::clamp(processors - others, 1, threads);
}

int running_others([[maybe_unused]] int own) {
#ifdef __linux__
    // Three averages, then running/all. By hand: a call on several threads allocates nothing.
    char text[128] = {};
    const int file = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    const ssize_t size = read(file, text, sizeof text - 1);
    close(file);
    int running = 0;
    if (size <= 0 || std::sscanf(text, "%*f %*f %*f %d", &running) != 1) return 0;
    return std::max(0, running - own);
#else
    return 0;
#endif
}

namespace {

/// The threads that find a free core; 0 where they all do, or it is not known.
int fewer_threads() {
    if (other_threads || !cores_are_shared()) return 0;
    const int threads = thread_count(), processors = processor_count();
    if (threads == 1 || threads > processors) return 0;
    const int fewer = threads_beside(threads, processors, running_others(1));
    if (fewer == threads) return 0;
    unbind_this_thread();
    return fewer;
}

}  // namespace

ThreadsBesideOthers::ThreadsBesideOthers() : threads_(fewer_threads(), region_threads()) {}

RegionThreads* region_threads() { return other_threads; }

ThreadsOfRegions::ThreadsOfRegions([[maybe_unused]] int count, RegionThreads* threads)
    : others_before_(other_threads) {
    other_threads = threads;
#ifdef _OPENMP
    if (count == 0) return;
    before_ = omp_get_max_threads();
    omp_set_num_threads(count);
#endif
}

ThreadsOfRegions::~ThreadsOfRegions() {
    other_threads = others_before_;
#ifdef _OPENMP
    if (before_ > 0) omp_set_num_threads(before_);
#endif
}

int processor_count() {
#ifdef _OPENMP
    // Where OpenMP binds threads, it knows of more processors than this one's.
    const static bool openmp_binds = std::getenv("OMP_PROC_BIND") != nullptr;
    const static int count = openmp_binds && cores().quota == 0
                                 ? std::max(cores().count(), omp_get_num_procs())
                                 : cores().count();
    return count;
#else
    return 1;
#endif
}

int thread_count() {
    if (team_is_lost()) return 1;
#ifdef _OPENMP
    // Without a number from the user, OpenMP takes every core of the mask, whatever the quota.
    const bool is_given = count_is_set || std::getenv("OMP_NUM_THREADS");
    const int threads = omp_get_max_threads();
    return is_given ? threads : std::min(threads, processor_count());
#else
    return 1;
#endif
}

}  // namespace fovea::runtime
