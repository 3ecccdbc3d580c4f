// The likeliest continuations, beside a sort of them all.
#include "runtime/decoding/likeliest_continuations.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "tests/random_seed.h"

using namespace fovea::runtime;

TEST_CASE("likeliest continuations: the first of all when these are sorted, equal ones in order") {
    std::mt19937 draw(fovea::test::random_seed());
    for (int turn = 0; turn < 50; ++turn) {
        const std::size_t rows = 1 + draw() % 4, words = 1 + draw() % 9;
        const std::size_t count = draw() % (rows * words + 3);
        CAPTURE(turn);
        std::vector<float> logits(rows * words);
        std::vector<double> normalizers(rows), log_probabilities(rows);
        // Few different numbers, so that many are equal.
        for (float& logit : logits) logit = float(draw() % 4);
        for (double& normalizer : normalizers) normalizer = -double(draw() % 2);
        for (double& log : log_probabilities) log = -double(draw() % 3);
        std::vector<Continuation> all;
        for (std::size_t row = 0; row < rows; ++row)
            for (std::size_t word = 0; word < words; ++word)
                all.push_back(
                    {log_probabilities[row] + (logits[row * words + word] + normalizers[row]),
                     std::int32_t(row), std::int32_t(word)});
        std::stable_sort(all.begin(), all.end(), [](const Continuation& a, const Continuation& b) {
            return a.log_probability > b.log_probability;
        });
        const auto found = likeliest_continuations(logits, normalizers, log_probabilities, count);
        REQUIRE(found.size() == std::min(count, all.size()));
        for (std::size_t i = 0; i < found.size(); ++i) {
            CHECK(found[i].log_probability == all[i].log_probability);
            CHECK(found[i].parent == all[i].parent);
            CHECK(found[i].token == all[i].token);
        }
    }
}

TEST_CASE("likeliest continuations: logits become logarithms of probabilities, of any magnitude") {
    for (const float offset : {0.0F, 3000.0F, -3000.0F}) {
        const std::vector<float> logits = {offset, offset + 1, offset + 2};
        double sum = 0;
        for (const float logit : logits) sum += std::exp(double(logit) + log_normalizer(logits));
        CHECK(sum == doctest::Approx(1));
    }
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const std::vector<float> hidden = {1, -kInfinity}, none = {-kInfinity, -kInfinity},
                             infinite = {1, kInfinity};
    CHECK(log_normalizer(hidden) == -1);
    CHECK(!std::isfinite(log_normalizer(none)));
    CHECK(!std::isfinite(log_normalizer(infinite)));
}
