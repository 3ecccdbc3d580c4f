// Exponentials of many numbers, as softmax over a vocabulary takes them.
#pragma once

#include <span>

namespace fovea::runtime {

/// e to the power of what is less is 0 to float32, or nearly.
inline constexpr float kLeastExponent = -87;

/// The largest of some values, of which there is one at least.
float largest_of(std::span<const float> values);

/// Makes x from kLeastExponent to 0 e^x, off by a few of float32's roundings.
void take_exponentials(std::span<float> x);

}  // namespace fovea::runtime
