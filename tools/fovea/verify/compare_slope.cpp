#include "tools/fovea/verify/compare_slope.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace fovea::tool {

namespace {

constexpr double kStepLengths[] = {1e-5, 1e-6, 1e-4, 1e-7, 1e-3};
constexpr double kTolerance = 1e-4;  // of a slope

/// A slope is certain to a part of its distance from the gradient when steps of three lengths in a
/// row give it.
bool is_certain(std::vector<std::pair<double, double>> slopes, double gradient) {
    std::sort(slopes.begin(), slopes.end());
    for (std::size_t i = 0; i + 2 < slopes.size(); ++i) {
        const double a = slopes[i].second, b = slopes[i + 1].second, c = slopes[i + 2].second;
        const double distance =
            std::min({std::abs(a - gradient), std::abs(b - gradient), std::abs(c - gradient)});
        if (std::max({a, b, c}) - std::min({a, b, c}) < distance / 20) return true;
    }
    return false;
}

/// What the slopes to both sides of the point itself differ by, however short the steps are.
double bend_at_point(FiniteDifferences& differences, const std::string& name, double scale) {
    double least = std::numeric_limits<double>::infinity();
    for (double step : kStepLengths)
        least = std::min(least, std::abs(differences.bend(name, step * scale)));
    return least;
}

}  // namespace

Slope compare_slope(FiniteDifferences& differences, const std::string& name, double scale) {
    const double gradient = differences.gradient(name);
    std::vector<std::pair<double, double>> slopes;  // by step
    double nearest = std::numeric_limits<double>::infinity();
    for (double step : kStepLengths) {
        const double slope = differences.slope(name, step * scale);
        nearest = std::min(nearest, std::abs(slope - gradient));
        if (nearest <= kTolerance * std::abs(gradient)) return {Slope::Kind::same, nearest};
        slopes.emplace_back(step, slope);
    }
    if (!is_certain(slopes, gradient)) return {Slope::Kind::untold, nearest};
    const double distance = std::abs(slopes.front().second - gradient);
    if (bend_at_point(differences, name, scale) > distance / 2)
        return {Slope::Kind::untold, nearest};
    const double rounding =
        differences.gradient_error(name) + differences.slope_error(1e-5 * scale);
    if (distance <= rounding) return {Slope::Kind::untold, nearest};
    return {Slope::Kind::other, nearest,
            fmt::format("is {} along a direction where the slope is {}", gradient,
                        slopes.front().second)};
}

}  // namespace fovea::tool
