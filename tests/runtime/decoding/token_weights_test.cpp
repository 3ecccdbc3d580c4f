// Draws of tokens beside a sort of all of them.
#include "runtime/decoding/token_weights.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "tests/random_seed.h"

using namespace fovea::runtime;

namespace {

/// Logits as models have them: some far apart, some equal.
std::vector<float> drawn_logits(std::mt19937& draw) {
    const std::size_t count = 1 + draw() % (draw() % 4 ? 60 : 5000);
    const float scale = draw() % 3 ? 2.F : 40.F;
    std::vector<float> logits(count);
    for (float& logit : logits) {
        logit = scale * (float(draw() % 4096) / 2048 - 1);
        if (draw() % 3 == 0) logit = std::round(logit);
    }
    return logits;
}

/// All tokens from the likeliest on, and the sums of their weights up to each.
struct Sorted {
    std::vector<std::int32_t> tokens;
    std::vector<double> sums;

    Sorted(const std::vector<float>& logits, double temperature) : tokens(logits.size()) {
        std::iota(tokens.begin(), tokens.end(), 0);
        const auto logit = [&](std::int32_t token) { return logits[std::size_t(token)]; };
        std::stable_sort(tokens.begin(), tokens.end(),
                         [&](std::int32_t a, std::int32_t b) { return logit(a) > logit(b); });
        double sum = 0;
        for (const std::int32_t token : tokens)
            sums.push_back(sum +=
                           std::exp(double(logit(token) - logit(tokens.front())) / temperature));
    }
    /// The first whose sum is above one that is a little less, and a little more.
    bool has_around(std::int32_t token, double sum) const {
        const double off = 1e-5 * sums.back();
        const auto first = std::upper_bound(sums.begin(), sums.end() - 1, sum - off),
                   last = std::upper_bound(sums.begin(), sums.end() - 1, sum + off);
        return std::find(tokens.begin() + (first - sums.begin()),
                         tokens.begin() + (last - sums.begin()) + 1,
                         token) != tokens.begin() + (last - sums.begin()) + 1;
    }
};

}  // namespace

TEST_CASE("a token is the one at which the sum of weights, likeliest first, passes a number") {
    std::mt19937 draw(fovea::test::random_seed());
    for (int i = 0; i < 200; ++i) {
        const std::vector<float> logits = drawn_logits(draw);
        const double temperature = draw() % 3 ? 0.8 : 30;
        const Sorted sorted(logits, temperature);
        const TokenWeights weights(logits, temperature);
        CHECK(weights.sum() == doctest::Approx(sorted.sums.back()).epsilon(1e-5));
        for (const double part : {0.0, 0.03, 0.5, 0.9, 0.999, 1.0}) {
            CAPTURE(part);
            const double sum = part * weights.sum();
            CHECK(sorted.has_around(weights.token_at(sum), sum));
            const double kept = weights.sum_from(sum);
            const auto least = std::lower_bound(sorted.sums.begin(), sorted.sums.end() - 1,
                                                sum - 1e-5 * sorted.sums.back());
            CHECK(kept >= *least - 1e-5 * sorted.sums.back());
            CHECK(kept <= sorted.sums.back() * (1 + 1e-5));
        }
    }
}

TEST_CASE("the fewest likeliest tokens are kept, whole") {
    const std::vector<float> logits = {std::log(0.1F), std::log(0.6F), std::log(0.25F),
                                       std::log(0.05F)};
    const TokenWeights weights(logits, 1);  // those of the likeliest are 1
    CHECK(weights.sum_from(0.5) == doctest::Approx(1));
    CHECK(weights.sum_from(1.01) == doctest::Approx(0.85 / 0.6));
    CHECK(weights.sum_from(1.5) == doctest::Approx(0.95 / 0.6));
    CHECK(weights.sum_from(100) == doctest::Approx(1 / 0.6));
    CHECK(weights.token_at(100) == 3);
}

TEST_CASE("of the likeliest tokens the first of equal ones are kept") {
    std::mt19937 draw(fovea::test::random_seed());
    for (int i = 0; i < 200; ++i) {
        const std::vector<float> logits = drawn_logits(draw);
        const Sorted sorted(logits, 0.8);
        const std::size_t count = 1 + draw() % logits.size();
        TokenWeights weights(logits, 0.8);
        weights.keep_likeliest(count);
        CHECK(weights.sum() == doctest::Approx(sorted.sums[count - 1]).epsilon(1e-5));
        const std::int32_t last = weights.token_at(weights.sum() * 2);
        const auto place = std::find(sorted.tokens.begin(), sorted.tokens.end(), last);
        CHECK(std::size_t(place - sorted.tokens.begin()) < count);
    }
    const std::vector<float> equal(40, 3.F);
    TokenWeights weights(equal, 1);
    weights.keep_likeliest(7);
    CHECK(weights.sum() == 7);
    CHECK(weights.token_at(6.5) == 6);
}

TEST_CASE("extreme temperatures and logits") {
    const std::vector<float> logits = {-3e38F, 1, 1, 3e38F};
    CHECK(TokenWeights(logits, 1e-9).token_at(0.5) == 3);
    CHECK(TokenWeights(logits, 1e30).token_at(0.5) == 3);
    const std::vector<float> equal(3000, -7.F);
    const TokenWeights weights(equal, 0.7);
    CHECK(weights.sum() == doctest::Approx(3000));
    CHECK(weights.token_at(0) == 0);
    CHECK(weights.token_at(1234.5) == 1234);
    CHECK(weights.token_at(2999.5) == 2999);
}

TEST_CASE("the likeliest token is the first of the largest logits") {
    std::mt19937 draw(fovea::test::random_seed());
    for (int i = 0; i < 200; ++i) {
        const std::vector<float> logits = drawn_logits(draw);
        CHECK(likeliest_token(logits) ==
              std::max_element(logits.begin(), logits.end()) - logits.begin());
    }
}

TEST_CASE("numbers that are not finite are found anywhere") {
    using Limits = std::numeric_limits<float>;
    std::vector<float> values(37, Limits::max());
    values[3] = -Limits::max(), values[4] = 0, values[5] = Limits::denorm_min();
    CHECK(are_finite(values));
    for (std::size_t i = 0; i < values.size(); ++i)
        for (const float wrong :
             {Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(), -Limits::quiet_NaN()}) {
            std::vector<float> some = values;
            some[i] = wrong;
            CHECK(!are_finite(some));
        }
}
