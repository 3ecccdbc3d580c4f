// What row kernels share: walking along a row, and sums over blocks of rows.
#pragma once

#include <cstring>

#include "threads.h"

namespace fovea::cpu::inline FOVEA_ISA {

/// Calls `body(k, lanes)` for k = 0, 16, … below `extent`: whole vectors with AllLanes, and what
/// is left at the end with the Lanes that take part.
template <class Body>
FOVEA_INLINE void for_each_vector(i64 extent, Body&& body) {
    i64 k = 0;
    for (; k + kLanes <= extent; k += kLanes) body(k, AllLanes{});
    if (k < extent) body(k, Lanes{extent - k});
}

/// How many positions of a row of `extent` lie below a bound.
inline i64 positions_below(i64 bound, i64 extent) {
    return minimum(maximum(bound, i64(0)), extent);
}

/// The positions from `begin` to below `end` of a row become `value`.
inline void fill_row(float* row, i64 begin, i64 end, float value) {
    for (i64 i = begin; i < end; ++i) row[i] = value;
}

/// Block `block` of `blocks` of nearly the same length.
inline Range block_of(i64 count, i64 block, i64 blocks) {
    return {count * block / blocks, count * (block + 1) / blocks};
}

inline float* zeroed(float* part, i64 count) {
    std::memset(part, 0, std::size_t(count) * sizeof(float));
    return part;
}

inline void copy_row(float* to, const float* from, i64 count) {
    std::memcpy(to, from, std::size_t(count) * sizeof(float));
}

/// 16 elements of a part, and what is added to them.
FOVEA_INLINE void add_to(float* part, floats value) { store(part, load(part) + value); }
template <class Part>
FOVEA_INLINE void add_to(float* part, floats value, Part lanes) {
    store(part, load(part, lanes) + value, lanes);
}

}  // namespace fovea::cpu::inline FOVEA_ISA
