// Updates in one pass over memory, four floats at a time: with wider vectors roots and divisions
// are not faster. Products and sums are never contracted: every instruction set gives equal bits.
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

#include "optimizer.h"

#include <cmath>
#include <cstring>

#include "blocks.h"

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace fovea::runtime {
namespace {

using Factors = OptimizerFactors;

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

/// Moves `count` <= kWidth floats from `i`.
template <OptimizerKind kind>
inline void update_vector(const Flat& flat, std::size_t i, std::size_t count, const Factors& f) {
    const Vector value = load(flat.values + i, count);
    Vector gradient = load(flat.gradients + i, count) * f.gradient_scale;
    if constexpr (kind != OptimizerKind::adamw) gradient += f.decay * value;
    if constexpr (kind == OptimizerKind::sgd) {
        const Vector velocity = f.momentum * load(flat.first + i, count) + gradient;
        store(flat.first + i, velocity, count);
        store(flat.values + i, value - f.step_size * velocity, count);
    } else {
        const Vector m = f.beta1 * load(flat.first + i, count) + f.one_minus_beta1 * gradient;
        const Vector v =
            f.beta2 * load(flat.second + i, count) + f.one_minus_beta2 * (gradient * gradient);
        store(flat.first + i, m, count);
        store(flat.second + i, v, count);
        const Vector change = f.step_size * m / (root(v) * f.inverse_root + f.epsilon);
        const Vector kept = kind == OptimizerKind::adamw ? f.keep * value : value;
        store(flat.values + i, kept - change, count);
    }
}

template <OptimizerKind kind>
void update_block(const Flat& flat, std::size_t start, std::size_t end, const Factors& factors) {
    const Factors f = factors;
    std::size_t i = start;
    for (; i + kWidth <= end; i += kWidth) update_vector<kind>(flat, i, kWidth, f);
    if (i < end) update_vector<kind>(flat, i, end - i, f);
}

void update_block(OptimizerKind kind, const Flat& flat, std::size_t start, std::size_t end,
                  const Factors& factors) {
    switch (kind) {
        case OptimizerKind::adam:
            return update_block<OptimizerKind::adam>(flat, start, end, factors);
        case OptimizerKind::adamw:
            return update_block<OptimizerKind::adamw>(flat, start, end, factors);
        case OptimizerKind::sgd: return update_block<OptimizerKind::sgd>(flat, start, end, factors);
    }
}

Factors factors_of(const OptimizerSettings& settings, std::uint64_t step, double learning_rate,
                   double gradient_scale) {
    const bool is_sgd = settings.kind == OptimizerKind::sgd;
    const auto number = static_cast<double>(step);
    const double correction1 = is_sgd ? 1.0 : 1.0 - std::pow(settings.beta1, number);
    const double correction2 = is_sgd ? 1.0 : 1.0 - std::pow(settings.beta2, number);
    return {.gradient_scale = static_cast<float>(gradient_scale),
            .decay = static_cast<float>(settings.weight_decay),
            .keep = static_cast<float>(1.0 - learning_rate * settings.weight_decay),
            .beta1 = static_cast<float>(settings.beta1),
            .beta2 = static_cast<float>(settings.beta2),
            .one_minus_beta1 = static_cast<float>(1.0 - settings.beta1),
            .one_minus_beta2 = static_cast<float>(1.0 - settings.beta2),
            .step_size = static_cast<float>(learning_rate / correction1),
            .inverse_root = static_cast<float>(1.0 / std::sqrt(correction2)),
            .epsilon = static_cast<float>(settings.epsilon),
            .momentum = static_cast<float>(settings.momentum)};
}

}  // namespace

std::string name_of(OptimizerKind kind) {
    switch (kind) {
        case OptimizerKind::adam: return "adam";
        case OptimizerKind::adamw: return "adamw";
        case OptimizerKind::sgd: return "sgd";
    }
    return "";
}

Optimizer::Optimizer(std::size_t size, OptimizerSettings settings)
    : settings_(settings),
      size_(size),
      first_(size * sizeof(float)),
      second_(settings.kind == OptimizerKind::sgd ? 0 : size * sizeof(float)) {}

void Optimizer::update_part(std::span<float> values, std::span<const float> gradients,
                            double learning_rate, double gradient_scale, Part part) {
    const Factors factors = this->factors(learning_rate, gradient_scale);
    const Flat flat = {values.data(), gradients.data(), first_.as<float>(), second_.as<float>()};
    for_each_block(size_, part, [&](std::size_t, std::size_t start, std::size_t end) {
        update_block(settings_.kind, flat, start, end, factors);
    });
}

OptimizerFactors Optimizer::factors(double learning_rate, double gradient_scale) const {
    return factors_of(settings_, step_ + 1, learning_rate, gradient_scale);
}

std::vector<OptimizerState> Optimizer::state() {
    if (fetch_) fetch_();
    return state_here();
}

std::vector<OptimizerState> Optimizer::state_here() {
    const std::span<float> first = {first_.as<float>(), size_};
    if (settings_.kind == OptimizerKind::sgd) return {{"momentum", first}};
    return {{"m", first}, {"v", {second_.as<float>(), size_}}};
}

}  // namespace fovea::runtime
