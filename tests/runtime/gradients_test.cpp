// Norms, clipping and sums of gradients.
#include "runtime/training/gradients.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "runtime/training/random_stream.h"

using namespace fovea::runtime;

namespace {

std::vector<float> drawn_gradients(std::size_t size, std::uint32_t stream) {
    std::vector<float> values(size);
    RandomStream(3, stream).fill_normal(values);
    return values;
}

double norm_of(const std::vector<float>& gradients, int parts = 1) {
    NormOfParts norm(gradients.size());
    for (int part = 0; part < parts; ++part) norm.add_part(gradients, {part, parts});
    return norm.norm();
}

}  // namespace

TEST_CASE("gradients: norms of blocks and tails, and clipping") {
    CHECK(norm_of({}) == 0);
    CHECK(norm_of(std::vector<float>{3, 4}) == 5);
    CHECK(norm_of(std::vector<float>(10000, 0.5F)) == 50);
    const std::vector<float> values = drawn_gradients(12345, 8);
    double sum = 0;
    for (float value : values) sum += static_cast<double>(value) * static_cast<double>(value);
    CHECK(norm_of(values) == doctest::Approx(std::sqrt(sum)).epsilon(1e-12));
    CHECK(norm_of(values, 3) == norm_of(values));
    CHECK(clip_scale(0.5, 1) == 1);
    CHECK(clip_scale(4, 1) == 0.25);
    CHECK(clip_scale(4, 0) == 1);
}

TEST_CASE("add_scaled_part: parts together add everything once") {
    const std::vector<float> gradients = drawn_gradients(9001, 1);
    std::vector<float> sum(gradients.size(), 1.0F);
    for (int part = 0; part < 3; ++part) add_scaled_part(sum, gradients, 0.5, {part, 3});
    for (std::size_t i = 0; i < sum.size(); ++i) REQUIRE(sum[i] == 1.0F + 0.5F * gradients[i]);
}
