// Stores past the caches, for memory that other cores read next: a usual store to a line that they
// hold waits until they have let go of it, one line after the other.
#pragma once

#include <cstddef>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace fovea::runtime {

/// Copies `size` floats to `to`, a multiple of 16 bytes. Others see them after `finish_streams` of
/// this thread and a barrier.
inline void stream(float* to, const float* from, std::size_t size) {
    std::size_t i = 0;
#if defined(__SSE2__)
    for (; i + 4 <= size; i += 4) _mm_stream_ps(to + i, _mm_loadu_ps(from + i));
#endif
    for (; i < size; ++i) to[i] = from[i];
}

inline void finish_streams() {
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

}  // namespace fovea::runtime
