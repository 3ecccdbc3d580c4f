// Numbers of 16 bits, and what all floating-point types share.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace fovea::ptx {

inline float from_bf16(std::uint16_t bits) {
    return std::bit_cast<float>(std::uint32_t(bits) << 16);
}

float from_f16(std::uint16_t bits);

/// How a number that does not fit is rounded.
enum class Rounding : std::uint8_t { nearest, zero, down, up };

/// The numbers of 16 bits nearest to x, or those next to it towards zero.
std::uint16_t to_bf16(double x, Rounding rounding = Rounding::nearest);
std::uint16_t to_f16(double x, Rounding rounding = Rounding::nearest);

/// The nearest number of 11 significant bits (tf32), ties away from zero, as cvt.rna gives it.
std::uint32_t to_tf32(float x);

/// The smaller and the larger number; of a number and a NaN the number; -0 before 0.
struct Smallest {
    template <class T>
    T operator()(T a, T b) const {
        if (a != a) return b;
        if (b != b) return a;
        if (a == b) return std::signbit(a) ? a : b;
        return a < b ? a : b;
    }
};
struct Largest {
    template <class T>
    T operator()(T a, T b) const {
        if (a != a) return b;
        if (b != b) return a;
        if (a == b) return std::signbit(a) ? b : a;
        return a > b ? a : b;
    }
};
/// A NaN if either is one.
template <class F>
struct Propagating {
    template <class T>
    T operator()(T a, T b) const {
        return a != a ? a : b != b ? b : F{}(a, b);
    }
};

}  // namespace fovea::ptx
