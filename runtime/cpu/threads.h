// How the threads of a program share a kernel's work. Kernels are right, too, when they are called
// by a thread of no team: it does all of it.
#pragma once

#include "../memory/scratch.h"
#include "../parallel/team.h"
#include "vector.h"

namespace fovea::cpu::inline FOVEA_ISA {

using runtime::Team;
using runtime::TeamMember;

inline bool is_first_thread() { return Team::part().index == 0; }

struct Range {
    i64 begin, end;
};

/// This thread's contiguous part of 0 to count - 1.
inline Range my_share(i64 count) {
    const runtime::Part part = Team::part();
    return {count * part.index / part.count, count * (part.index + 1) / part.count};
}

/// The same with a begin that is a multiple of 16: no vector is split between threads.
inline Range my_lanes(i64 extent) {
    const Range vectors = my_share((extent + kLanes - 1) / kLanes);
    const i64 end = vectors.end * kLanes;
    return {vectors.begin * kLanes, end < extent ? end : extent};
}

/// How many tiles of `tile` positions an axis has.
FOVEA_INLINE i64 tiles_of(i64 extent, i64 tile) { return (extent + tile - 1) / tile; }

/// A point of nested loops, by its number along each.
template <int axes>
struct Point {
    i64 at[axes];

    FOVEA_INLINE i64 operator[](int axis) const { return at[axis]; }
};

/// Points of nested loops, the last of which runs fastest: some in a row, then those that `Next`
/// gives, until it has none. Of a single loop, a point is its number.
template <int axes, class Next>
class Points {
  public:
    struct Last {};

    FOVEA_INLINE Points(const Point<axes>& counts, Next next) : counts_(counts), next_(next) {
        start(next_());
    }

    FOVEA_INLINE Points& begin() { return *this; }
    FOVEA_INLINE Last end() const { return {}; }
    FOVEA_INLINE bool operator!=(Last) const { return left_ > 0; }
    FOVEA_INLINE auto operator*() const {
        if constexpr (axes == 1) return point_[0];
        else return point_;
    }
    FOVEA_INLINE void operator++() {
        if (--left_ == 0) start(next_());
        else advance<axes - 1>();
    }

  private:
    FOVEA_INLINE void start(Range range) {
        left_ = range.end - range.begin;
        if (left_ > 0) divide<axes - 1>(range.begin);
    }
    template <int axis>
    FOVEA_INLINE void divide(i64 number) {
        if constexpr (axis == 0) {
            point_.at[0] = number;
        } else {
            point_.at[axis] = number % counts_[axis];
            divide<axis - 1>(number / counts_[axis]);
        }
    }
    template <int axis>
    FOVEA_INLINE void advance() {
        ++point_.at[axis];
        if constexpr (axis > 0) {
            if (point_[axis] < counts_[axis]) return;
            point_.at[axis] = 0;
            advance<axis - 1>();
        }
    }

    Point<axes> counts_, point_ = {};
    i64 left_ = 0;
    Next next_;
};

/// This thread's share, once.
struct OwnShare {
    Range range;

    FOVEA_INLINE Range operator()() {
        const Range all = range;
        range = {0, 0};
        return all;
    }
};

/// What this thread takes of `count` points, `at_once` in a row, as it finds time.
struct Taken {
    i64 at_once, count;
    std::uint32_t loop;  // 0: the thread is alone

    FOVEA_INLINE Range operator()() {
        if (loop == 0) {
            const Range all{0, count};
            count = 0;
            return all;
        }
        const Team::Points points = Team::take(loop, at_once, count);
        return {points.begin, points.end};
    }
};

/// Of `count` points the one with the number of this thread, and each as many behind it as there
/// are threads.
struct Dealt {
    i64 next, step, count;

    FOVEA_INLINE Range operator()() {
        const i64 point = next;
        next += step;
        return {point, point < count ? point + 1 : point};
    }
};

/// This thread's contiguous share of nested loops.
template <class... Counts>
FOVEA_INLINE auto my_points(Counts... counts) {
    return Points<sizeof...(counts), OwnShare>({{i64(counts)...}},
                                               {my_share((i64(1) * ... * counts))});
}

/// Nested loops whose points the threads take, `at_once` in a row.
template <class... Counts>
FOVEA_INLINE auto taken_points(i64 at_once, Counts... counts) {
    return Points<sizeof...(counts), Taken>({{i64(counts)...}},
                                            {at_once, (i64(1) * ... * counts), Team::next_loop()});
}

/// Nested loops whose points are dealt out to the threads in turn: the first are the longest.
template <class... Counts>
FOVEA_INLINE auto dealt_points(Counts... counts) {
    const runtime::Part part = Team::part();
    return Points<sizeof...(counts), Dealt>({{i64(counts)...}},
                                            {part.index, part.count, (i64(1) * ... * counts)});
}

using runtime::scratch;

}  // namespace fovea::cpu::inline FOVEA_ISA
