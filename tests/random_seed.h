// Seeds of tests that draw what they try, and cases that take turns by them.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace fovea::test {

/// The value of $FOVEA_SEED, else one that is drawn; it is printed, so that a run can be repeated.
inline unsigned random_seed() {
    const char* given = std::getenv("FOVEA_SEED");
    const unsigned seed = given ? unsigned(std::atoi(given)) : std::random_device{}() % 1000000;
    MESSAGE("FOVEA_SEED=", seed);
    return seed;
}

/// Whether $FOVEA_WHOLE asks for all cases, also of those that take turns.
inline bool takes_all() { return std::getenv("FOVEA_WHOLE") != nullptr; }

/// Of `count` cases that ask the same of one model, instruction set or target after the other, the
/// numbers of those whose turn it is: every `step`-th from one on that the seed says, so that
/// `step` seeds in a row take each case once; all where FOVEA_WHOLE is set. At least one, unless
/// there is none; it is printed which. Another `offset` takes others with the same seed.
inline std::vector<std::size_t> turns_of(std::size_t count, std::size_t step,
                                         std::size_t offset = 0) {
    if (takes_all()) step = 1;
    const std::size_t first = (random_seed() + offset) % step;
    std::vector<std::size_t> numbers;
    for (std::size_t i = first; i < count; i += step) numbers.push_back(i);
    if (numbers.empty() && count > 0) numbers.push_back(first % count);
    std::string text;
    for (const std::size_t number : numbers) text += " " + std::to_string(number);
    MESSAGE("of ", count, " cases it is the turn of", text);
    return numbers;
}

/// The same of a list: the cases themselves.
template <class Case>
std::vector<Case> turns_of(const std::vector<Case>& cases, std::size_t step,
                           std::size_t offset = 0) {
    std::vector<Case> result;
    for (const std::size_t number : turns_of(cases.size(), step, offset))
        result.push_back(cases[number]);
    return result;
}

/// Whether it is the turn of the case of this number, where each of the list is a test case.
inline bool has_turn(std::size_t number, std::size_t step) {
    const bool has = takes_all() || (random_seed() + number) % step == 0;
    if (!has) MESSAGE("not run: it is the turn of others");
    return has;
}

}  // namespace fovea::test
