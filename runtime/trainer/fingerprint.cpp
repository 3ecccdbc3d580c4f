// FNV-1a: Fowler, Noll and Vo.
#include "fingerprint.h"

namespace fovea::runtime {

std::uint64_t fingerprint_of(std::initializer_list<std::span<const std::int32_t>> lists) {
    std::uint64_t hash = 0xCBF29CE484222325;
    for (const std::span<const std::int32_t> list : lists) {
        for (const std::int32_t value : list) {
            for (int shift = 0; shift < 32; shift += 8) {
                hash ^= static_cast<std::uint32_t>(value) >> shift & 0xFF;
                hash *= 0x100000001B3;
            }
        }
    }
    return hash;
}

std::uint64_t fingerprint_of_values(std::span<const float> values, std::uint64_t before) {
    std::uint64_t hash = before ^ 0xCBF29CE484222325;
    for (const float value : values) {
        hash ^= __builtin_bit_cast(std::uint32_t, value);
        hash *= 0x9E3779B97F4A7C15;
        hash ^= hash >> 32;
    }
    return hash;
}

}  // namespace fovea::runtime
