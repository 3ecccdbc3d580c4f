// Seeds of tests that draw what they try.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <random>

namespace fovea::test {

/// The value of $FOVEA_SEED, else one that is drawn; it is printed, so that a run can be repeated.
inline unsigned random_seed() {
    const char* given = std::getenv("FOVEA_SEED");
    const unsigned seed = given ? unsigned(std::atoi(given)) : std::random_device{}() % 1000000;
    MESSAGE("FOVEA_SEED=", seed);
    return seed;
}

}  // namespace fovea::test
