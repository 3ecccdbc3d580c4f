// One number for how far a tensor is from another.
#pragma once

#include <vector>

namespace fovea::tool {

/// max|a - b| / max(max|b|, floor); infinite where a value is not finite. Masked scores, -1e6, are
/// compared on their own scale.
double relative_error(const std::vector<double>& a, const std::vector<double>& b, double floor);

}  // namespace fovea::tool
