// A number that tells lists of numbers apart.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>

namespace fovea::runtime {

/// 64-bit FNV-1a of all values in order, byte by byte.
std::uint64_t fingerprint_of(std::initializer_list<std::span<const std::int32_t>> lists);

/// Of the bits of all values, in order: other than those of `fingerprint_of`.
std::uint64_t fingerprint_of_values(std::span<const float> values, std::uint64_t before = 0);

}  // namespace fovea::runtime
