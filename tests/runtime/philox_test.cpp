// Known answers of Philox, dropout's addressing, and the moments and bits of the streams.
#include "runtime/training/philox.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "runtime/training/random_stream.h"

using namespace fovea::runtime;

using Words = std::array<std::uint32_t, 4>;

TEST_CASE("philox: the known answers of Random123") {
    constexpr std::uint32_t kOnes = 0xFFFFFFFF;
    CHECK(philox({0, 0, 0, 0}, {0, 0}) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    CHECK(philox({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}) ==
          Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
    CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
          Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
    static_assert(philox({0, 0, 0, 0}, {0, 0})[0] == 0x6627e8d5);
}

TEST_CASE("philox: uniform_of is in [0, 1)") {
    CHECK(uniform_of(0) == 0.0F);
    CHECK(uniform_of(0xFFFFFFFF) < 1.0F);
    CHECK(uniform_of(0x80000000) == 0.5F);
}

TEST_CASE("dropout: keys, counters and lanes are where the design puts them") {
    const std::uint64_t seed = 0x0123456789abcdefULL;
    for (std::uint32_t column = 0; column < 9; ++column) {
        const Words words = philox({11, 3, 5, column / 4}, {0x89abcdef, 0x01234567});
        for (double p : {0.1, 0.5, 0.9}) {
            const bool expected = static_cast<double>(uniform_of(words[column % 4])) >= p;
            CHECK(dropout_keep(seed, 11, 3, 5, column, p) == expected);
        }
    }
}

TEST_CASE("dropout: the threshold is exact at both ends") {
    CHECK(dropout_threshold(0.0) == 0);
    CHECK(dropout_threshold(0.5) == 1U << 23);
    CHECK(dropout_threshold(1.0) == 1U << 24);
    CHECK(dropout_threshold(0x1p-30) == 1);
    int kept = 0;
    for (std::uint32_t i = 0; i < 10000; ++i) kept += dropout_keep(1, 0, 0, i, i % 7, 0.1) ? 1 : 0;
    CHECK(kept > 8850);
    CHECK(kept < 9150);
}

TEST_CASE("random_stream: fill agrees with the single elements, streams differ") {
    const RandomStream stream(42, 3), other(42, 4);
    std::vector<float> uniform(1001), normal(1001);
    stream.fill_uniform(uniform, 0.25);
    stream.fill_normal(normal);
    for (std::size_t i = 0; i < uniform.size(); ++i) {
        const double centred = 2.0 * static_cast<double>(stream.uniform(i)) - 1.0;
        CHECK(uniform[i] == static_cast<float>(centred * 0.25));
        CHECK(normal[i] == static_cast<float>(stream.normal(i)));
    }
    CHECK(stream.uniform(0) != other.uniform(0));
}

TEST_CASE("random_stream: normal numbers agree with the C library's functions") {
    const RandomStream stream(1, 0);
    for (std::uint64_t pair = 0; pair < 20000; ++pair) {
        const auto low = static_cast<std::uint32_t>(pair);
        const Words words = philox({low, 0, 0, 0x80000000U}, {1, 0});
        const auto joined = [&](int i) {
            return (static_cast<std::uint64_t>(words[i]) << 32 | words[i + 1]) >> 11;
        };
        const double draw = static_cast<double>(joined(0) + 1) * 0x1p-53;
        const double radius = std::sqrt(-2 * std::log(draw));
        const double angle = 6.283185307179586 * static_cast<double>(joined(2)) * 0x1p-53;
        REQUIRE(std::abs(stream.normal(2 * pair) - radius * std::cos(angle)) < 1e-14);
        REQUIRE(std::abs(stream.normal(2 * pair + 1) - radius * std::sin(angle)) < 1e-14);
    }
}

TEST_CASE("random_stream: moments") {
    const RandomStream stream(9, 1);
    std::vector<float> values(1 << 17);
    stream.fill_normal(values);
    double sum = 0, squares = 0;
    for (float value : values) {
        sum += static_cast<double>(value);
        squares += static_cast<double>(value) * static_cast<double>(value);
    }
    const auto count = static_cast<double>(values.size());
    CHECK(std::abs(sum / count) < 0.01);
    CHECK(std::abs(squares / count - 1) < 0.02);
    for (std::uint64_t i = 0; i < 1000; ++i) CHECK(stream.below(i, 7) < 7);
}
