// Thread counts through OpenMP, and where the threads run.
#include "threads.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "error.h"

#ifdef _OPENMP
#include <omp.h>
#endif
#ifdef __linux__
#include <sched.h>
#endif

namespace fovea::runtime {

namespace {

#if defined(_OPENMP) && defined(__linux__)
/// The processors that this process may run on.
std::vector<int> allowed_processors() {
    cpu_set_t allowed;
    std::vector<int> processors;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return processors;
    for (int i = 0; i < CPU_SETSIZE; ++i)
        if (CPU_ISSET(i, &allowed)) processors.push_back(i);
    return processors;
}

const std::vector<int>& processors_at_start() {
    const static std::vector<int> processors = allowed_processors();
    return processors;
}

/// Two threads on one core wait for each other at every barrier, a time slice each. Where the
/// program takes the whole machine, each thread gets a processor of its own.
void bind_threads(int count) {
    const std::vector<int>& processors = processors_at_start();
    const bool user_binds = std::getenv("OMP_PROC_BIND") || std::getenv("GOMP_CPU_AFFINITY");
    if (count < 2 || user_binds || processors.size() != static_cast<std::size_t>(count)) return;
#pragma omp parallel num_threads(count)
    {
        cpu_set_t own;
        CPU_ZERO(&own);
        CPU_SET(processors[static_cast<std::size_t>(omp_get_thread_num())], &own);
        sched_setaffinity(0, sizeof own, &own);
    }
}
#else
void bind_threads(int) {}
#endif

}  // namespace

void set_threads(std::int64_t count) {
    constexpr std::int64_t kMost = 1024;
    if (count < 1 || count > kMost) {
        throw UserError("the number of threads should be from 1 to " + std::to_string(kMost) +
                        ", but is " + std::to_string(count));
    }
#ifdef _OPENMP
    omp_set_dynamic(0);
    omp_set_num_threads(static_cast<int>(count));
#endif
    bind_threads(static_cast<int>(count));
}

int processor_count() {
#if defined(_OPENMP) && defined(__linux__)
    // Where OpenMP binds threads, it knows of more processors than this one's.
    const static int count = std::max({1, int(processors_at_start().size()), omp_get_num_procs()});
    return count;
#elif defined(_OPENMP)
    return std::max(1, omp_get_num_procs());
#else
    return 1;
#endif
}

int thread_count() {
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

}  // namespace fovea::runtime
