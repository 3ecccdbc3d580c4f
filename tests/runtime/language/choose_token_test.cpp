#include "runtime/language/choose_token.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "runtime/error.h"

using namespace fovea::runtime;

namespace {

/// How often each token comes at 4,000 places.
std::vector<int> counts(const std::vector<float>& logits, const Sampling& sampling) {
    std::vector<int> found(logits.size());
    for (std::uint64_t i = 0; i < 4000; ++i)
        ++found[static_cast<std::size_t>(choose_token(logits, sampling, i))];
    return found;
}

/// Logits of these probabilities.
std::vector<float> logits_of(const std::vector<double>& probabilities) {
    std::vector<float> logits;
    for (double p : probabilities) logits.push_back(float(std::log(p)));
    return logits;
}

}  // namespace

TEST_CASE("without a temperature the likeliest token is taken, of equal ones the first") {
    CHECK(choose_token(std::array{0.F, 3.F, 3.F, -1.F}, {}, 0) == 1);
    CHECK(choose_token(std::array{-7.F}, {.temperature = 1}, 5) == 0);
    CHECK(choose_token(std::array{1e30F, -1e30F}, {.temperature = 1e-9}, 0) == 0);
}

TEST_CASE("tokens are drawn by their probabilities") {
    const std::vector<double> p = {0.1, 0.6, 0.25, 0.05};
    const std::vector<int> found = counts(logits_of(p), {.temperature = 1, .seed = 3});
    // Five standard deviations.
    for (std::size_t i = 0; i < p.size(); ++i)
        CHECK(std::abs(found[i] - 4000 * p[i]) < 5 * std::sqrt(4000 * p[i] * (1 - p[i])));
    // Half the temperature squares them.
    const std::vector<int> cold = counts(logits_of(p), {.temperature = 0.5, .seed = 3});
    const double largest = 0.36 / (0.01 + 0.36 + 0.0625 + 0.0025);
    CHECK(std::abs(cold[1] - 4000 * largest) < 5 * std::sqrt(4000 * largest * (1 - largest)));
}

TEST_CASE("the likeliest tokens alone are drawn, by number and by probability") {
    const std::vector<float> logits = logits_of({0.1, 0.6, 0.25, 0.05});
    const auto drawn = [&](const Sampling& sampling) {
        std::string tokens;
        const std::vector<int> found = counts(logits, sampling);
        for (std::size_t i = 0; i < found.size(); ++i)
            if (found[i]) tokens += std::to_string(i);
        return tokens;
    };
    CHECK(drawn({.temperature = 1}) == "0123");
    CHECK(drawn({.temperature = 1, .top_k = 1}) == "1");
    CHECK(drawn({.temperature = 1, .top_k = 2}) == "12");
    CHECK(drawn({.temperature = 1, .top_k = 9}) == "0123");
    CHECK(drawn({.temperature = 1, .top_p = 0.01}) == "1");
    CHECK(drawn({.temperature = 1, .top_p = 0.61}) == "12");
    CHECK(drawn({.temperature = 1, .top_p = 0.9}) == "012");
    CHECK(drawn({.temperature = 1, .top_k = 2, .top_p = 0.6}) == "1");
}

TEST_CASE("a place of a text has the same token each time, another seed another") {
    const std::vector<float> logits(50, 0.F);
    std::vector<int> first, again, other;
    for (std::uint64_t i = 0; i < 20; ++i) {
        first.push_back(choose_token(logits, {.temperature = 1, .seed = 1}, i));
        again.push_back(choose_token(logits, {.temperature = 1, .seed = 1}, i));
        other.push_back(choose_token(logits, {.temperature = 1, .seed = 2}, i));
    }
    CHECK(first == again);
    CHECK(first != other);
}

TEST_CASE("logits that are not finite are refused") {
    for (float wrong :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        const std::array logits{0.F, wrong};
        CHECK_THROWS_WITH_AS(
            choose_token(logits, {}, 7),
            "the logits of token 7 are not finite: a weight is not, or is very large", UserError);
    }
    CHECK_THROWS_AS(choose_token({}, {}, 0), InternalError);
}
