// Products and sums are never contracted, so every instruction set gives equal bits. O3 puts the
// lanes of sums into vectors.
#include "gradients.h"

#include <cmath>

#include "../isa.h"
#include "../parallel/blocks.h"

// Below the headers, whose functions other files share.
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC push_options
#pragma GCC optimize("O3,fp-contract=off")
#endif

namespace fovea::runtime {
namespace {

constexpr std::size_t kLanes = 32;

/// With vectors of the function it is inlined in; its lanes are the same on every machine.
[[gnu::always_inline]] inline double add_squares(const float* values, std::size_t size) {
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

using SumOfSquares = double(const float*, std::size_t);

double sum_of_squares(const float* values, std::size_t size) { return add_squares(values, size); }

#if defined(__x86_64__)
[[gnu::target("avx")]] double sum_of_squares_avx(const float* values, std::size_t size) {
    return add_squares(values, size);
}
#endif

// With -ffp-contract=fast, clang contracts whatever a pragma says, where the machine can.
#if defined(__x86_64__) && !defined(__clang__)
[[gnu::target("arch=x86-64-v4,prefer-vector-width=512")]] double sum_of_squares_avx512(
    const float* values, std::size_t size) {
    return add_squares(values, size);
}
#endif

SumOfSquares& choose_sum_of_squares() {
#if defined(__x86_64__) && !defined(__clang__)
    if (machine_has("avx512")) return sum_of_squares_avx512;
#endif
#if defined(__x86_64__)
    if (machine_has("avx2")) return sum_of_squares_avx;
#endif
    return sum_of_squares;
}

}  // namespace

NormOfParts::NormOfParts(std::size_t size) : sums_(block_count(size)) {}

void NormOfParts::add_part(std::span<const float> gradients, Part part) {
    static SumOfSquares& sum_of_squares = choose_sum_of_squares();
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

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif
