// A std::array whose elements a compiler reads in fewer steps: its checks take most of ten.
#pragma once

#include <cstddef>

namespace fovea {

template <class T, std::size_t Size>
struct FixedArray {
    T values[Size];

    constexpr std::size_t size() const { return Size; }
    constexpr T& operator[](std::size_t i) { return values[i]; }
    constexpr const T& operator[](std::size_t i) const { return values[i]; }
    constexpr T* begin() { return values; }
    constexpr T* end() { return values + Size; }
    constexpr const T* begin() const { return values; }
    constexpr const T* end() const { return values + Size; }
    constexpr void fill(const T& value) {
        for (T& own : values) own = value;
    }
    constexpr bool operator==(const FixedArray&) const = default;
    constexpr auto operator<=>(const FixedArray&) const = default;
};

}  // namespace fovea
