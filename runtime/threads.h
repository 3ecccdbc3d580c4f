// The number of threads that generated programs use.
#pragma once

#include <cstdint>

namespace fovea::runtime {

/// Sets the number of OpenMP threads for every later parallel region, exactly (no dynamic
/// adjustment), and binds them to processors when there is one for each and none over. UserError
/// unless 1 <= count <= 1024.
void set_threads(std::int64_t count);

/// The number of threads a parallel region gets: that of `set_threads`, else of OMP_NUM_THREADS,
/// else one per core; 1 without OpenMP.
int thread_count();

/// The processors that this process may run on, at least 1: those of its start, whatever a thread
/// is bound to since.
int processor_count();

}  // namespace fovea::runtime
