// Whether a gradient is the slope of the outputs.
#pragma once

#include <optional>
#include <string>

#include "tools/fovea/verify/finite_differences.h"

namespace fovea::tool::fuzz {

/// Why the gradient of `name` is not the slope, as a clause; nothing when it is, or when the slope
/// cannot be told: steps of other lengths, in units of `scale`, then give other slopes, since the
/// outputs bend or jump nearby, or since rounding is all that is left of the difference.
std::optional<std::string> why_not_slope(FiniteDifferences& differences, const std::string& name,
                                         double scale);

}  // namespace fovea::tool::fuzz
