// Optimizers against their formulas in float64, and bits that do not depend on threads.
#include "runtime/training/optimizer.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "runtime/training/random_stream.h"

using namespace fovea::runtime;

namespace {

std::vector<float> normal_values(std::size_t size, std::uint32_t stream) {
    std::vector<float> values(size);
    RandomStream(3, stream).fill_normal(values);
    return values;
}

void update_once(Optimizer& optimizer, std::vector<float>& values,
                 const std::vector<float>& gradients, double rate, double scale = 1,
                 int parts = 1) {
    for (int part = 0; part < parts; ++part)
        optimizer.update_part(values, gradients, rate, scale, {part, parts});
    optimizer.advance();
}

/// Three updates of 10007 values in this many parts.
std::vector<float> trained(int parts) {
    std::vector<float> values = normal_values(10007, 0);
    Optimizer optimizer(values.size());
    for (std::uint32_t step = 1; step <= 3; ++step)
        update_once(optimizer, values, normal_values(values.size(), step), 0.01, 0.5, parts);
    return values;
}

constexpr double kRate = 0.005, kScale = 0.5;

/// torch.optim's update of one value, in float64.
struct Expected {
    OptimizerSettings settings;
    double value = 0, m = 0, v = 0;

    void update(double gradient, int step) {
        const double decay = settings.weight_decay;
        gradient *= kScale;
        if (settings.kind == OptimizerKind::adamw) value -= kRate * decay * value;
        else gradient += decay * value;
        if (settings.kind == OptimizerKind::sgd) {
            m = settings.momentum * m + gradient;
            value -= kRate * m;
            return;
        }
        m = settings.beta1 * m + (1 - settings.beta1) * gradient;
        v = settings.beta2 * v + (1 - settings.beta2) * gradient * gradient;
        const double root = std::sqrt(v) / std::sqrt(1 - std::pow(settings.beta2, step));
        value -= kRate / (1 - std::pow(settings.beta1, step)) * m / (root + settings.epsilon);
    }
};

std::string kind_name(const OptimizerSettings& settings) {
    const char* const kinds[] = {"adam", "adamw", "sgd"};
    return std::string(kinds[int(settings.kind)]) + ", decay " +
           std::to_string(settings.weight_decay) + ", momentum " +
           std::to_string(settings.momentum);
}

}  // namespace

TEST_CASE("optimizer: follows PyTorch's formulas") {
    const OptimizerSettings cases[] = {
        {},
        {.weight_decay = 0.1},
        {.kind = OptimizerKind::adam, .beta1 = 0.8, .beta2 = 0.98, .epsilon = 1e-9},
        {.kind = OptimizerKind::adamw, .weight_decay = 0.01},
        {.kind = OptimizerKind::sgd},
        {.kind = OptimizerKind::sgd, .momentum = 0.9, .weight_decay = 0.1}};
    const std::size_t size = 4099;
    for (const OptimizerSettings& settings : cases) {
        const std::string name = kind_name(settings);
        CAPTURE(name);
        std::vector<float> values = normal_values(size, 0);
        std::vector<Expected> expected;
        for (const float value : values) expected.push_back({settings, value});
        Optimizer optimizer(size, settings);
        for (std::uint32_t step = 1; step <= 5; ++step) {
            const std::vector<float> gradients = normal_values(size, step);
            update_once(optimizer, values, gradients, kRate, kScale);
            CHECK(optimizer.step() == step);
            for (std::size_t i = 0; i < size; ++i)
                expected[i].update(static_cast<double>(gradients[i]), int(step));
        }
        double error = 0;
        for (std::size_t i = 0; i < size; ++i)
            error = std::max(error, std::abs(static_cast<double>(values[i]) - expected[i].value));
        CHECK(error < 2e-6);
    }
}

TEST_CASE("optimizer: a zero gradient from a zero state changes nothing, gaps stay zero") {
    std::vector<float> values(20, 0.0F);
    const std::vector<float> gradients(20, 0.0F);
    Optimizer optimizer(20);
    update_once(optimizer, values, gradients, 0.1);
    CHECK(values == gradients);
}

TEST_CASE("optimizer: state and step can be restored") {
    for (const OptimizerKind kind : {OptimizerKind::adam, OptimizerKind::sgd}) {
        const OptimizerSettings settings{.kind = kind, .momentum = 0.9};
        std::vector<float> straight = normal_values(37, 0);
        std::vector<float> resumed = straight;
        const std::vector<float> gradients = normal_values(37, 1);
        Optimizer first(37, settings), restored(37, settings);
        update_once(first, straight, gradients, 0.01);
        resumed = straight;
        for (std::size_t i = 0; i < first.state().size(); ++i)
            std::memcpy(restored.state()[i].flat.data(), first.state()[i].flat.data(), 37 * 4);
        restored.set_step(first.step());
        update_once(first, straight, gradients, 0.01);
        update_once(restored, resumed, gradients, 0.01);
        CHECK(straight == resumed);
    }
}

TEST_CASE("optimizer: the same bits in one part and in three") { CHECK(trained(1) == trained(3)); }
