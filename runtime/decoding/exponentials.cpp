#include "exponentials.h"

#include <algorithm>
#include <cstdint>

namespace fovea::runtime {

namespace {

/// 2^n times a polynomial in what is left of x (Cephes' expf).
float exponential(float x) {
    constexpr float kLarge = 0x1.8p23F;
    const float turns = x * 1.44269504F + kLarge, n = turns - kLarge;
    const float rest = (x - n * 0.693359375F) + n * 2.12194440e-4F;
    float y = 1.9875691500e-4F * rest + 1.3981999507e-3F;
    y = y * rest + 8.3334519073e-3F;
    y = y * rest + 4.1665795894e-2F;
    y = y * rest + 1.6666665459e-1F;
    y = y * rest + 5.0000001201e-1F;
    y = y * rest * rest + rest + 1;
    // The lowest bits of `turns` are n.
    const auto power = (__builtin_bit_cast(std::uint32_t, turns) + 127U) << 23U;
    return y * __builtin_bit_cast(float, power);
}

}  // namespace

float largest_of(std::span<const float> values) {
    // Lanes have one each, so that a compiler takes vectors.
    constexpr std::size_t kAtOnce = 16;
    float lanes[kAtOnce];
    std::fill(std::begin(lanes), std::end(lanes), values[0]);
    std::size_t i = 0;
    for (; i + kAtOnce <= values.size(); i += kAtOnce)
        for (std::size_t lane = 0; lane < kAtOnce; ++lane)
            lanes[lane] = values[i + lane] > lanes[lane] ? values[i + lane] : lanes[lane];
    for (; i < values.size(); ++i) lanes[0] = std::max(lanes[0], values[i]);
    return *std::max_element(std::begin(lanes), std::end(lanes));
}

void take_exponentials(std::span<float> x) {
    float* const values = x.data();
    for (std::size_t i = 0; i < x.size(); ++i) values[i] = exponential(values[i]);
}

}  // namespace fovea::runtime
