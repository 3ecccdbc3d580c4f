// An array beside what it should be, within bounds; and how much of all that was compared.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "codegen/graph/op_def.h"

namespace fovea::tool::fuzz {

/// What the checks of a program could tell.
struct Counts {
    std::int64_t elements = 0, unbounded = 0;  // compared; of no bound, so that any value is right
    std::int64_t slopes = 0, untold = 0;  // gradients beside slopes; slopes that tell nothing
    std::int64_t unkept = 0;  // schedules that an architecture cannot keep: nothing was run

    void add(const Counts& more) {
        elements += more.elements;
        unbounded += more.unbounded;
        slopes += more.slopes;
        untold += more.untold;
        unkept += more.unkept;
    }
};

/// What may lie between two computations: the bound and a rounding of the value, times a factor.
struct Tolerance {
    double unit, factor;
};

/// Why `actual` is not `expected`; nothing when it is. An element whose bound is infinite may be
/// anything, NaN, too.
std::optional<std::string> why_not_equal(const Array& actual, const Array& expected,
                                         const Array& bound, Tolerance tolerance, Counts& counts);

/// The larger of two bounds, in place of the first.
void widen(Array& bound, const Array& other);

}  // namespace fovea::tool::fuzz
