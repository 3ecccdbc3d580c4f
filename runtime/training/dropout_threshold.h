// Which words of the generator drop an element.
#pragma once

#include <cstdint>

namespace fovea::runtime {

/// An element is kept when `(word >> 8) >= dropout_threshold(p)`, which is `uniform >= p` without
/// rounding. `p` in [0, 1].
constexpr std::uint32_t dropout_threshold(double p) {
    const double scaled = p * 0x1p24;
    const auto whole = static_cast<std::uint32_t>(scaled);
    return whole + (static_cast<double>(whole) < scaled ? 1U : 0U);
}

}  // namespace fovea::runtime
