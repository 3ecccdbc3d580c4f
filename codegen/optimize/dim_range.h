// Intervals of whole numbers whose bounds are sizes: what i32 values that are computed from
// constants, positions and sizes lie between.
#pragma once

#include <optional>

#include "codegen/base/dim.h"
#include "codegen/base/elementwise.h"

namespace fovea {

/// No bound: nothing is known. Values that may leave the range of i32 have none.
struct DimRange {
    std::optional<Dim> low, high;
};

/// Whether a <= b for all sizes, which are 0 or more.
bool is_at_most(const Dim& a, const Dim& b);

/// What values of either lie between.
DimRange hull(const DimRange& a, const DimRange& b);

/// What f(a), f(a, b) lies between.
DimRange range_of(Elementwise function, const DimRange& a, const DimRange& b);

/// What sums of `count` values lie between.
DimRange range_of_sum(const DimRange& terms, const Dim& count);

}  // namespace fovea
