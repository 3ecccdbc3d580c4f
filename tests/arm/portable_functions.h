// A checksum of each elementary function over numbers of every size: machines with portable bits
// print the same ones. portable_bits_test.cpp compiles it for each.
#pragma once

#include <cstdio>
#include <vector>

#include "tests/emit/elementary_functions.cpp"

namespace fovea::test {

inline constexpr std::uint32_t kCount = 1U << 16;

/// Numbers of both signs and all exponents, subnormal and infinite ones among them.
inline std::vector<float> spread(std::uint32_t factor) {
    std::vector<float> numbers(kCount);
    for (std::uint32_t i = 0; i < kCount; ++i) {
        const std::uint32_t bits = (i << 16) ^ (i * factor & 0xffffU);
        std::memcpy(&numbers[i], &bits, sizeof bits);
    }
    return numbers;
}

/// FNV-1a over their bits; which bits a NaN has is up to the machine.
inline std::uint64_t checksum(const std::vector<float>& numbers) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const float number : numbers) {
        std::uint32_t bits = 0x7fc00000U;
        if (number == number) std::memcpy(&bits, &number, sizeof bits);
        for (int byte = 0; byte < 4; ++byte)
            hash = (hash ^ (bits >> 8 * byte & 0xffU)) * 0x100000001b3U;
    }
    return hash;
}

inline void print_checksums() {
    const std::vector<float> x = spread(40503);
    std::vector<float> y = spread(30011), to(kCount);
    // In another order, so that numbers meet others than their like.
    for (std::uint32_t i = 0; i < kCount; ++i) std::swap(y[i], y[i * 48271U % kCount]);
    for (const char* name : {"exp",
                             "exp2",
                             "log",
                             "log2",
                             "tanh",
                             "sigmoid",
                             "rsqrt",
                             "abs",
                             "sign",
                             "floor",
                             "ceil",
                             "round",
                             "expm1",
                             "log1p",
                             "atan2",
                             "erf",
                             "sin",
                             "cos",
                             "sin_scaled",
                             "cos_scaled",
                             "pow",
                             "exp_significand",
                             "exp_exponent",
                             "tanh of a sum",
                             "sigmoid of a sum"}) {
        fovea_apply(name, x.data(), y.data(), to.data(), kCount);
        std::printf("%s %016llx\n", name, static_cast<unsigned long long>(checksum(to)));
    }
}

}  // namespace fovea::test
