// Loops over the lanes of a warp.
#pragma once

#include <cstring>

#include "codegen/ptx/machine.h"

namespace fovea::ptx {

/// Calls f(lane) for the lanes of the mask.
template <class F>
inline void for_lanes(Mask mask, F f) {
    if (mask == kAllLanes) {
        for (int lane = 0; lane < kLanes; ++lane) f(lane);
    } else {
        for (Mask rest = mask; rest; rest &= rest - 1) f(std::countr_zero(rest));
    }
}

/// Stores the lanes of the mask. `values` is no register, so that the loops that fill it vectorize.
template <class T>
inline void store_lanes(T* to, const T (&values)[kLanes], Mask mask) {
    if (mask == kAllLanes) std::memcpy(to, values, sizeof values);
    else for_lanes(mask, [&](int lane) { to[lane] = values[lane]; });
}

inline int first_lane(Mask mask) { return std::countr_zero(mask); }

}  // namespace fovea::ptx
