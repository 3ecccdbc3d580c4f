// Products and sums are never contracted, so every instruction set gives equal bits. O3 puts the
// lanes of sums into vectors.
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("O3,fp-contract=off")
#endif

#include "gradients.h"

#include <cmath>

#include "blocks.h"

namespace fovea::runtime {
namespace {

constexpr std::size_t kLanes = 8;

double sum_of_squares(const float* values, std::size_t size) {
    double lanes[kLanes] = {};
    const std::size_t whole = size / kLanes * kLanes;
    for (std::size_t i = 0; i < whole; i += kLanes) {
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            const double value = values[i + lane];
            lanes[lane] += value * value;  // the product is exact
        }
    }
    for (std::size_t i = whole; i < size; ++i) {
        const double value = values[i];
        lanes[i - whole] += value * value;
    }
    double sum = 0;
    for (double lane : lanes) sum += lane;
    return sum;
}

}  // namespace

NormOfParts::NormOfParts(std::size_t size) : sums_(block_count(size)) {}

void NormOfParts::add_part(std::span<const float> gradients, Part part) {
    for_each_block(gradients.size(), part,
                   [&](std::size_t block, std::size_t start, std::size_t end) {
                       sums_[block] = sum_of_squares(gradients.data() + start, end - start);
                   });
}

double NormOfParts::norm() const {
    double sum = 0;
    for (const double block : sums_) sum += block;
    return std::sqrt(sum);
}

double clip_scale(double norm, double clip) { return clip > 0 && norm > clip ? clip / norm : 1.0; }

void add_scaled_part(std::span<float> sum, std::span<const float> gradients, double scale,
                     Part part) {
    const auto factor = static_cast<float>(scale);
    for_each_block(sum.size(), part, [&](std::size_t, std::size_t start, std::size_t end) {
        for (std::size_t i = start; i < end; ++i) sum[i] += factor * gradients[i];
    });
}

}  // namespace fovea::runtime
