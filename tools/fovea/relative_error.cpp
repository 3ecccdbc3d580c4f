#include "tools/fovea/relative_error.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fovea::tool {

namespace {
constexpr double kMasked = 1e5;  // values beyond are masked scores
}  // namespace

double relative_error(const std::vector<double>& a, const std::vector<double>& b, double floor) {
    double scale = floor, error = 0;
    for (double value : b)
        if (std::abs(value) < kMasked) scale = std::max(scale, std::abs(value));
    for (std::size_t i = 0; i < b.size(); ++i) {
        if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
        double difference = std::abs(a[i] - b[i]);
        if (!std::isfinite(difference)) return std::numeric_limits<double>::infinity();
        error = std::max(
            error, difference / std::max(scale, std::abs(b[i]) < kMasked ? 0 : std::abs(b[i])));
    }
    return error;
}

}  // namespace fovea::tool
