// Adam against its formula in float64, clipping, and bits that do not depend on threads.
#include "runtime/adam.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "runtime/error.h"
#include "runtime/random_stream.h"
#include "runtime/threads.h"

using namespace fovea::runtime;

namespace {

std::vector<float> normal_values(std::size_t size, std::uint32_t stream) {
    std::vector<float> values(size);
    RandomStream(3, stream).fill_normal(values);
    return values;
}

/// Three updates of 10007 values with this many threads.
std::vector<float> trained(int threads) {
    const int before = thread_count();
    set_threads(threads);
    std::vector<float> values = normal_values(10007, 0);
    Adam adam(values.size());
    for (std::uint32_t step = 1; step <= 3; ++step) {
        const std::vector<float> gradients = normal_values(values.size(), step);
        const double scale = clip_scale(gradient_norm(gradients), 1.0);
        adam.update(values, gradients, 0.01, scale);
    }
    set_threads(before);
    return values;
}

}  // namespace

TEST_CASE("adam: follows PyTorch's formula") {
    const std::size_t size = 4099;
    std::vector<float> values = normal_values(size, 0);
    std::vector<double> expected(values.begin(), values.end()), m(size), v(size);
    Adam adam(size);
    for (std::uint32_t step = 1; step <= 5; ++step) {
        const std::vector<float> gradients = normal_values(size, step);
        adam.update(values, gradients, 0.005, 0.5);
        CHECK(adam.step() == step);
        for (std::size_t i = 0; i < size; ++i) {
            const double gradient = 0.5 * static_cast<double>(gradients[i]);
            m[i] = 0.9 * m[i] + 0.1 * gradient;
            v[i] = 0.999 * v[i] + 0.001 * gradient * gradient;
            const double root = std::sqrt(v[i]) / std::sqrt(1 - std::pow(0.999, step));
            expected[i] -= 0.005 / (1 - std::pow(0.9, step)) * m[i] / (root + 1e-8);
        }
    }
    for (std::size_t i = 0; i < size; ++i) {
        REQUIRE(std::abs(static_cast<double>(values[i]) - expected[i]) < 2e-6);
    }
}

TEST_CASE("adam: a zero gradient from zero moments changes nothing, gaps stay zero") {
    std::vector<float> values(20, 0.0F);
    const std::vector<float> gradients(20, 0.0F);
    Adam adam(20);
    adam.update(values, gradients, 0.1);
    CHECK(values == gradients);
}

TEST_CASE("adam: moments and step can be restored") {
    std::vector<float> straight = normal_values(37, 0);
    std::vector<float> resumed = straight;
    const std::vector<float> gradients = normal_values(37, 1);
    Adam first(37);
    first.update(straight, gradients, 0.01);
    Adam second(37);
    second.update(resumed, gradients, 0.01);
    Adam restored(37);
    std::memcpy(restored.first_moment().data(), second.first_moment().data(), 37 * 4);
    std::memcpy(restored.second_moment().data(), second.second_moment().data(), 37 * 4);
    restored.set_step(second.step());
    first.update(straight, gradients, 0.01);
    restored.update(resumed, gradients, 0.01);
    CHECK(straight == resumed);
}

TEST_CASE("adam: the same bits with one thread and with three") {
    CHECK(trained(1) == trained(3));
}

TEST_CASE("adam: sizes that differ are our mistake") {
    std::vector<float> values(3);
    CHECK_THROWS_AS(Adam(4).update(values, values, 0.1), InternalError);
}

TEST_CASE("gradient_norm: blocks, tails and clipping") {
    CHECK(gradient_norm({}) == 0);
    CHECK(gradient_norm(std::vector<float>{3, 4}) == 5);
    CHECK(gradient_norm(std::vector<float>(10000, 0.5F)) == 50);
    const std::vector<float> values = normal_values(12345, 8);
    double sum = 0;
    for (float value : values) sum += static_cast<double>(value) * static_cast<double>(value);
    CHECK(gradient_norm(values) == doctest::Approx(std::sqrt(sum)).epsilon(1e-12));
    CHECK(clip_scale(0.5, 1) == 1);
    CHECK(clip_scale(4, 1) == 0.25);
    CHECK(clip_scale(4, 0) == 1);
}
