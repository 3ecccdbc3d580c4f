// Whether a gradient is the slope of the outputs.
#pragma once

#include <string>

#include "tools/fovea/verify/finite_differences.h"

namespace fovea::tool {

struct Slope {
    enum class Kind {
        same,    // as the gradient
        other,
        untold,  // steps of other lengths give other slopes, or rounding is all that is left
    } kind;
    double distance = 0;  // of the gradient from the nearest of the slopes
    std::string text{};   // of another slope: `is 1 along a direction where the slope is 2`
};

/// The gradient of `name` beside differences over steps of several lengths, in units of `scale`.
/// Where the outputs bend or jump nearby these do not agree on a slope; where they do so at the
/// point itself, both sides do not.
Slope compare_slope(FiniteDifferences& differences, const std::string& name, double scale);

}  // namespace fovea::tool
