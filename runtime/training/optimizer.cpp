// Updates in one pass over memory, with the widest vectors that the machine has. Products and sums
// are never contracted, so every instruction set gives equal bits.
#include "optimizer.h"

#include <algorithm>
#include <cmath>

#include "../isa.h"
#include "../parallel/blocks.h"
#include "../parallel/stream.h"
#include "portable_math.h"

// Below the headers, whose functions other files share.
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC push_options
#pragma GCC optimize("fp-contract=off")
#endif

namespace fovea::runtime {
namespace {

using Factors = OptimizerFactors;

struct Flat {
    const float* __restrict values;
    float* __restrict moved;  // the new values of a block
    const float* __restrict gradients;
    float* __restrict first;
    float* __restrict second;
};

/// Moves the elements from `start` to below `end`, with vectors of the function it is inlined in.
template <OptimizerKind kind>
[[gnu::always_inline]] inline void update(Flat flat, std::size_t start, std::size_t end,
                                          Factors f) {
    for (std::size_t i = start; i < end; ++i) {
        const float value = flat.values[i];
        float gradient = flat.gradients[i] * f.gradient_scale;
        if constexpr (kind != OptimizerKind::adamw) gradient += f.decay * value;
        if constexpr (kind == OptimizerKind::sgd) {
            const float velocity = f.momentum * flat.first[i] + gradient;
            flat.first[i] = velocity;
            flat.moved[i - start] = value - f.step_size * velocity;
        } else {
            const float m = f.beta1 * flat.first[i] + f.one_minus_beta1 * gradient;
            const float v = f.beta2 * flat.second[i] + f.one_minus_beta2 * (gradient * gradient);
            flat.first[i] = m;
            flat.second[i] = v;
            const float change = f.step_size * m / (std::sqrt(v) * f.inverse_root + f.epsilon);
            flat.moved[i - start] =
                (kind == OptimizerKind::adamw ? f.keep * value : value) - change;
        }
    }
}

[[gnu::always_inline]] inline void update(OptimizerKind kind, const Flat& flat, std::size_t start,
                                          std::size_t end, const Factors& f) {
    switch (kind) {
        case OptimizerKind::adam: return update<OptimizerKind::adam>(flat, start, end, f);
        case OptimizerKind::adamw: return update<OptimizerKind::adamw>(flat, start, end, f);
        case OptimizerKind::sgd: return update<OptimizerKind::sgd>(flat, start, end, f);
    }
}

/// Of more floats, caches hold little anyway.
constexpr std::size_t kMostCached = std::size_t{4} << 20;

using UpdateBlock = void(OptimizerKind, const Flat&, std::size_t, std::size_t, const Factors&);

void update_block(OptimizerKind kind, const Flat& flat, std::size_t start, std::size_t end,
                  const Factors& f) {
    update(kind, flat, start, end, f);
}

#if defined(__x86_64__)
[[gnu::target("avx")]] void update_block_avx(OptimizerKind kind, const Flat& flat,
                                             std::size_t start, std::size_t end, const Factors& f) {
    update(kind, flat, start, end, f);
}
#endif

// With -ffp-contract=fast, clang contracts whatever a pragma says, where the machine can.
#if defined(__x86_64__) && !defined(__clang__)
[[gnu::target("arch=x86-64-v4")]] void update_block_avx512(OptimizerKind kind, const Flat& flat,
                                                           std::size_t start, std::size_t end,
                                                           const Factors& f) {
    update(kind, flat, start, end, f);
}
#endif

UpdateBlock& choose_update() {
#if defined(__x86_64__) && !defined(__clang__)
    if (machine_has("avx512")) return update_block_avx512;
#endif
#if defined(__x86_64__)
    if (machine_has("avx2")) return update_block_avx;
#endif
    return update_block;
}

Factors factors_of(const OptimizerSettings& settings, std::uint64_t step, double learning_rate,
                   double gradient_scale) {
    const bool is_sgd = settings.kind == OptimizerKind::sgd;
    const double correction1 = is_sgd ? 1.0 : 1.0 - power(settings.beta1, step);
    const double correction2 = is_sgd ? 1.0 : 1.0 - power(settings.beta2, step);
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
    const bool streams = part.count > 1 && size_ <= kMostCached;
    alignas(64) float moved[kBlock];
    const Flat flat = {values.data(), moved, gradients.data(), first_.as<float>(),
                       second_.as<float>()};
    static UpdateBlock& update_block = choose_update();
    for_each_block(size_, part, [&](std::size_t, std::size_t start, std::size_t end) {
        update_block(settings_.kind, flat, start, end, factors);
        if (streams) stream(values.data() + start, moved, end - start);
        else std::copy_n(moved, end - start, values.data() + start);
    });
    if (streams) finish_streams();
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

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif
