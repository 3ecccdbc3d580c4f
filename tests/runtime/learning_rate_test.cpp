// Schedules at the steps where their formulas are easily seen.
#include "runtime/training/learning_rate.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace fovea::runtime;

TEST_CASE("learning_rate: constant, with and without a warm-up") {
    const LearningRate plain{.rate = 0.5};
    CHECK(plain.at(1) == 0.5);
    CHECK(plain.at(1000) == 0.5);
    const LearningRate warmed{.rate = 0.5, .warmup = 10};
    CHECK(warmed.at(1) == doctest::Approx(0.05));
    CHECK(warmed.at(10) == doctest::Approx(0.5));
    CHECK(warmed.at(11) == 0.5);
}

TEST_CASE("learning_rate: half a cosine from the warm-up's end to the total") {
    const LearningRate rate{.schedule = Schedule::cosine, .rate = 2, .warmup = 10, .total = 110};
    CHECK(rate.at(5) == doctest::Approx(1));
    CHECK(rate.at(10) == doctest::Approx(2));
    CHECK(rate.at(35) == doctest::Approx(1 + std::sqrt(0.5)));
    CHECK(rate.at(60) == doctest::Approx(1));
    CHECK(rate.at(110) == doctest::Approx(0).epsilon(1e-12));
    CHECK(rate.at(500) == doctest::Approx(0).epsilon(1e-12));
}

TEST_CASE("learning_rate: the paper's rises linearly and falls with the root") {
    const LearningRate rate{.schedule = Schedule::paper, .rate = 1, .warmup = 4000, .width = 512};
    const double highest = 1 / std::sqrt(512.0 * 4000);
    CHECK(rate.at(4000) == doctest::Approx(highest));
    CHECK(rate.at(1000) == doctest::Approx(highest / 4));
    CHECK(rate.at(16000) == doctest::Approx(highest / 2));
}
