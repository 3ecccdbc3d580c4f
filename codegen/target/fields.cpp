// Limits in words.
#include "codegen/target/fields.h"

#include <fmt/format.h>

#include <cmath>

namespace fovea::target {

std::string text_of(double value) { return fmt::format("{}", value); }

std::string text_of(const Limits& limits) {
    const char* kind = !limits.whole         ? "a number"
                       : limits.power_of_two ? "a power of two"
                                             : "a whole number";
    const std::string multiple =
        limits.step > 1 ? fmt::format("a multiple of {}", limits.step) : kind;
    return fmt::format("{} from {:.0f} to {:.0f}", multiple, limits.least, limits.most);
}

bool takes(const Limits& limits, double value) {
    if (!(value >= limits.least && value <= limits.most)) return false;
    if (!limits.whole) return true;
    const double whole = std::floor(value);
    if (whole != value || std::fmod(whole, limits.step) != 0) return false;
    return !limits.power_of_two || std::exp2(std::floor(std::log2(whole))) == whole;
}

}  // namespace fovea::target
