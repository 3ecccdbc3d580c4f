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

struct SlopeOfStep {
    double step, slope;
    double rounding;  // how far the slope may be off by it
};

/// Whether slopes come together as steps become shorter, up to what rounding does to them. Where
/// outputs go up and down within the long steps, these may give one slope all the same, but shorter
/// ones leave it.
bool converges(const SlopeOfStep& shortest, const SlopeOfStep& middle, const SlopeOfStep& longest) {
    const double shorter = std::abs(shortest.slope - middle.slope);
    const double longer = std::abs(middle.slope - longest.slope);
    return shorter <= std::max(2 * longer, 8 * shortest.rounding);
}

/// A slope is certain to a part of its distance from the gradient when steps of three lengths in a
/// row give it, and all of them come together.
bool is_certain(std::vector<SlopeOfStep> slopes, double gradient) {
    std::sort(slopes.begin(), slopes.end(),
              [](const auto& a, const auto& b) { return a.step < b.step; });
    for (std::size_t i = 0; i + 2 < slopes.size(); ++i)
        if (!converges(slopes[i], slopes[i + 1], slopes[i + 2])) return false;
    for (std::size_t i = 0; i + 2 < slopes.size(); ++i) {
        const double a = slopes[i].slope, b = slopes[i + 1].slope, c = slopes[i + 2].slope;
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

/// How much the gradient itself changes however short the steps are: it does at kinks, where many
/// bends to both sides may come to nothing together.
double change_at_point(FiniteDifferences& differences, const std::string& name, double scale) {
    double least = std::numeric_limits<double>::infinity();
    for (double step : kStepLengths)
        least = std::min(least, differences.change_of_gradient(name, step * scale));
    return least;
}

}  // namespace

Slope compare_slope(FiniteDifferences& differences, const std::string& name, double scale) {
    const double gradient = differences.gradient(name);
    std::vector<SlopeOfStep> slopes;
    double nearest = std::numeric_limits<double>::infinity();
    for (double step : kStepLengths) {
        const double slope = differences.slope(name, step * scale);
        nearest = std::min(nearest, std::abs(slope - gradient));
        if (nearest <= kTolerance * std::abs(gradient)) return {Slope::Kind::same, nearest};
        slopes.push_back({step, slope, differences.slope_error(step * scale)});
    }
    if (!is_certain(slopes, gradient)) return {Slope::Kind::untold, nearest};
    const double distance = std::abs(slopes.front().slope - gradient);
    if (bend_at_point(differences, name, scale) > distance / 2)
        return {Slope::Kind::untold, nearest};
    if (change_at_point(differences, name, scale) > distance / 2)
        return {Slope::Kind::untold, nearest};
    const double rounding =
        differences.gradient_error(name) + differences.slope_error(1e-5 * scale);
    if (distance <= rounding) return {Slope::Kind::untold, nearest};
    return {Slope::Kind::other, nearest,
            fmt::format("is {} along a direction where the slope is {}", gradient,
                        slopes.front().slope)};
}

}  // namespace fovea::tool
