#include "tools/fovea/fuzz/compare_arrays.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "codegen/reference/overflow.h"

namespace fovea::tool::fuzz {

std::optional<std::string> why_not_equal(const Array& actual, const Array& expected,
                                         const Array& bound, Tolerance tolerance, Counts& counts) {
    if (actual.values.size() != expected.values.size())
        return fmt::format("has {} values instead of {}", actual.values.size(),
                           expected.values.size());
    constexpr double kLargest = std::numeric_limits<float>::max(), kDenormal = 1e-37;
    for (std::size_t i = 0; i < actual.values.size(); ++i) {
        const double right = expected.values[i], got = actual.values[i];
        const double allowed =
            tolerance.factor * (bound.values[i] + tolerance.unit * std::abs(right) + kDenormal);
        if (!(allowed <= kLargest)) {
            ++counts.unbounded;
            continue;
        }
        ++counts.elements;
        if (std::abs(got - right) <= allowed || is_overflow(got, right, allowed)) continue;
        return fmt::format("element {} is {} instead of {} (bound {:.2g})", i, got, right, allowed);
    }
    return {};
}

void widen(Array& bound, const Array& other) {
    if (bound.values.size() != other.values.size()) return;  // the comparison says so
    for (std::size_t i = 0; i < bound.values.size(); ++i)
        if (!(bound.values[i] >= other.values[i])) bound.values[i] = other.values[i];
}

}  // namespace fovea::tool::fuzz
