// Functions that the compiler runs, against the library's at run time.
#include "codegen/base/constant_math.h"

#include <doctest/doctest.h>

#include <array>
#include <cstdlib>

using namespace fovea;

namespace {

constexpr int kCount = 60;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Numbers of all magnitudes up to 2^`most`.
constexpr double number(int i, int most) {
    std::uint64_t state = 88172645463325252u + std::uint64_t(i) * 0x9e3779b97f4a7c15u;
    for (int round = 0; round < 3; ++round) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    const std::uint64_t exponent = std::uint64_t(1023 - 30 + int(state >> 40) % (30 + most));
    return std::bit_cast<double>((state & 0xfffffffffffffu) | exponent << 52);
}

template <class F>
consteval std::array<double, kCount> table(F f) {
    std::array<double, kCount> values{};
    for (int i = 0; i < kCount; ++i) values[std::size_t(i)] = f(i);
    return values;
}

std::int64_t ulps(double a, double b) {
    return std::abs(std::bit_cast<std::int64_t>(a) - std::bit_cast<std::int64_t>(b));
}

}  // namespace

TEST_CASE("values are those of the library, to the last digit or the one before") {
    static constexpr auto roots = table([](int i) { return math::sqrt(number(i, 900)); });
    static constexpr auto logarithms = table([](int i) { return math::log(number(i, 900)); });
    static constexpr auto powers = table([](int i) { return math::exp(number(i, 9)); });
    static constexpr auto inverse = table([](int i) { return math::exp(-number(i, 9)); });
    static constexpr auto both =
        table([](int i) { return math::pow(number(i, 10), number(i + kCount, 6)); });
    for (int i = 0; i < kCount; ++i) {
        CAPTURE(i);
        const auto at = std::size_t(i);
        CHECK(roots[at] == std::sqrt(number(i, 900)));
        CHECK(ulps(logarithms[at], std::log(number(i, 900))) <= 1);
        CHECK(ulps(powers[at], std::exp(number(i, 9))) <= 1);
        CHECK(ulps(inverse[at], std::exp(-number(i, 9))) <= 1);
        CHECK(ulps(both[at], std::pow(number(i, 10), number(i + kCount, 6))) <= 1);
    }
}

TEST_CASE("ends of the range, and what is no number") {
    static_assert(math::exp(0) == 1 && math::exp(800) == kInfinity && math::exp(-800) == 0);
    static_assert(math::exp(5e-324) == 1 && math::exp(-kInfinity) == 0);
    static_assert(math::log(1) == 0 && math::log(0) == -kInfinity &&
                  math::log(-1) != math::log(-1));
    static_assert(math::sqrt(0) == 0 && math::sqrt(5e-324) > 0 && math::sqrt(-1) != math::sqrt(-1));
    static_assert(math::sqrt(1e308) * math::sqrt(1e308) <= 1.0000000000000002e308);
    static_assert(math::pow(2, -3) == 0.125 && math::pow(-2, 3) == -8 && math::pow(-2, 2) == 4);
    static_assert(math::pow(0, 0) == 1 && math::pow(0, -1) == kInfinity && math::pow(0, 2) == 0);
    static_assert(math::pow(-2, 0.5) != math::pow(-2, 0.5) && math::pow(10, 400) == kInfinity);
    static_assert(math::pow(0.5, kInfinity) == 0 && math::pow(-1, kInfinity) == 1);
    CHECK(1 / math::pow(-0.0, -3) == 0);
    CHECK(math::pow(-0.0, -3) == -kInfinity);
}
