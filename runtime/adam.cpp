// Adam in one pass over memory, four floats at a time: with wider vectors roots and divisions are
// not faster. Products and sums are never contracted, so every instruction set gives equal bits.
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

#include "adam.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "error.h"

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace fovea::runtime {
namespace {

// Work is cut into blocks whatever the number of threads, so vector tails stay where they are.
constexpr std::size_t kBlock = 4096;
constexpr std::size_t kLanes = 8;

/// The factors of one step, rounded to float once.
struct Factors {
    float gradient_scale, beta1, beta2, one_minus_beta1, one_minus_beta2;
    float step_size;           // learning rate / (1 - beta1^step)
    float inverse_root;        // 1 / sqrt(1 - beta2^step)
    float epsilon;
};

typedef float Vector __attribute__((vector_size(16)));
constexpr std::size_t kWidth = 4;

// Spelled out because std::sqrt sets errno, which keeps compilers from vectorising it.
inline Vector root(Vector x) {
#if defined(__SSE__)
    return _mm_sqrt_ps(x);
#else
    return Vector{std::sqrt(x[0]), std::sqrt(x[1]), std::sqrt(x[2]), std::sqrt(x[3])};
#endif
}

/// `count` floats, zeros behind them.
inline Vector load(const float* from, std::size_t count) {
    Vector vector = {};
    std::memcpy(&vector, from, count * sizeof(float));
    return vector;
}

inline void store(float* to, Vector vector, std::size_t count) {
    std::memcpy(to, &vector, count * sizeof(float));
}

struct Flat {
    float* values;
    const float* gradients;
    float* first;
    float* second;
};

/// Updates `count` <= kWidth floats from `i`.
inline void update_vector(const Flat& flat, std::size_t i, std::size_t count, const Factors& f) {
    const Vector gradient = load(flat.gradients + i, count) * f.gradient_scale;
    const Vector m = f.beta1 * load(flat.first + i, count) + f.one_minus_beta1 * gradient;
    const Vector v =
        f.beta2 * load(flat.second + i, count) + f.one_minus_beta2 * (gradient * gradient);
    store(flat.first + i, m, count);
    store(flat.second + i, v, count);
    const Vector change = f.step_size * m / (root(v) * f.inverse_root + f.epsilon);
    store(flat.values + i, load(flat.values + i, count) - change, count);
}

void update_block(const Flat& flat, std::size_t start, std::size_t end, const Factors& factors) {
    const Factors f = factors;
    std::size_t i = start;
    for (; i + kWidth <= end; i += kWidth) update_vector(flat, i, kWidth, f);
    if (i < end) update_vector(flat, i, end - i, f);
}

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

std::int64_t block_count(std::size_t size) {
    return static_cast<std::int64_t>((size + kBlock - 1) / kBlock);
}

}  // namespace

double gradient_norm(std::span<const float> gradients) {
    const std::int64_t blocks = block_count(gradients.size());
    std::vector<double> sums(static_cast<std::size_t>(blocks));
#pragma omp parallel for schedule(static)
    for (std::int64_t block = 0; block < blocks; ++block) {
        const auto index = static_cast<std::size_t>(block);
        const std::size_t start = index * kBlock;
        sums[index] = sum_of_squares(gradients.data() + start,
                                     std::min(kBlock, gradients.size() - start));
    }
    double sum = 0;
    for (double block_sum : sums) sum += block_sum;
    return std::sqrt(sum);
}

double clip_scale(double norm, double clip) {
    return clip > 0 && norm > clip ? clip / norm : 1.0;
}

Adam::Adam(std::size_t size, AdamSettings settings)
    : settings_(settings),
      size_(size),
      first_(size * sizeof(float)),
      second_(size * sizeof(float)) {}

void Adam::update(std::span<float> values, std::span<const float> gradients, double learning_rate,
                  double gradient_scale) {
    if (values.size() != size_ || gradients.size() != size_) {
        throw InternalError("Adam of " + std::to_string(size_) + " floats got " +
                            std::to_string(values.size()) + " values and " +
                            std::to_string(gradients.size()) + " gradients");
    }
    ++step_;
    const auto step = static_cast<double>(step_);
    const double correction1 = 1.0 - std::pow(settings_.beta1, step);
    const double correction2 = 1.0 - std::pow(settings_.beta2, step);
    const Factors factors = {static_cast<float>(gradient_scale),
                             static_cast<float>(settings_.beta1),
                             static_cast<float>(settings_.beta2),
                             static_cast<float>(1.0 - settings_.beta1),
                             static_cast<float>(1.0 - settings_.beta2),
                             static_cast<float>(learning_rate / correction1),
                             static_cast<float>(1.0 / std::sqrt(correction2)),
                             static_cast<float>(settings_.epsilon)};
    const Flat flat = {values.data(), gradients.data(), first_.as<float>(), second_.as<float>()};
    const std::int64_t blocks = block_count(size_);
#pragma omp parallel for schedule(static)
    for (std::int64_t block = 0; block < blocks; ++block) {
        const std::size_t start = static_cast<std::size_t>(block) * kBlock;
        update_block(flat, start, std::min(start + kBlock, size_), factors);
    }
}

}  // namespace fovea::runtime
