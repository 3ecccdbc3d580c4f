// Functions of numbers that compilers can run: <cmath>'s are not constexpr in C++20.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

/// `math::sqrt(2.0)` in a model; correct to the last digit or the one before.
namespace fovea::math {

namespace detail {

inline constexpr long double kLn2 = 0.693147180559945309417232121458176568L;
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// x · 2^n.
constexpr long double scaled(long double x, int n) {
    const bool up = n > 0;
    long double factor = up ? 2 : 0.5L;
    for (unsigned left = unsigned(up ? n : -n); left;) {
        if (left & 1) x *= factor;
        left >>= 1;
        if (left) factor *= factor;  // the last square might overflow, which is no constant
    }
    return x;
}

/// The n for which x · 2^-n is in [1, 2), for x > 0.
constexpr int exponent(double x) {
    const bool is_tiny = x < std::numeric_limits<double>::min();
    const auto bits = std::bit_cast<std::uint64_t>(is_tiny ? x * 0x1p60 : x);
    return int(bits >> 52) - 1023 - (is_tiny ? 60 : 0);
}

constexpr double narrowed(long double x) {
    return x > std::numeric_limits<double>::max() ? kInfinity : double(x);
}

/// e^x by its series at |x| <= ln 2 / 2.
constexpr long double exp_series(long double x) {
    long double sum = 1, term = 1;
    for (int n = 1; n <= 22; ++n) sum += term *= x / n;
    return sum;
}
constexpr long double exp_wide(long double x) {
    if (x > 11000) return kInfinity;
    if (x < -11000) return 0;
    const long double n = x / kLn2;
    const int whole = int(n < 0 ? n - 0.5L : n + 0.5L);
    return scaled(exp_series(x - whole * kLn2), whole);
}

/// ln x for 0 < x < ∞ by the series of 2 atanh((m - 1) / (m + 1)), m near 1.
constexpr long double log_wide(double x) {
    int n = exponent(x);
    long double m = scaled(x, -n);
    if (m > 1.41421356L) m /= 2, ++n;
    const long double s = (m - 1) / (m + 1);
    long double sum = 0, power = s;
    for (int k = 1; k <= 51; k += 2, power *= s * s) sum += power / k;
    return 2 * sum + n * kLn2;
}

constexpr bool is_whole(double x) {
    return x < 0x1p53 && x > -0x1p53 ? double(std::int64_t(x)) == x : true;
}
constexpr bool is_odd(double x) {
    return x < 0x1p53 && x > -0x1p53 && is_whole(x) && std::int64_t(x) % 2 != 0;
}

}  // namespace detail

/// NaN below 0.
constexpr double sqrt(double x) {
    if (!std::is_constant_evaluated()) return std::sqrt(x);
    if (x == 0 || x != x || x == detail::kInfinity) return x;
    if (x < 0) return detail::kNaN;
    const int n = detail::exponent(x) / 2;
    const long double m = detail::scaled(x, -2 * n);
    long double root = m > 1 ? (1 + m) / 2 : 1;
    for (int i = 0; i < 8; ++i) root = (root + m / root) / 2;
    return double(detail::scaled(root, n));
}

constexpr double exp(double x) {
    if (!std::is_constant_evaluated()) return std::exp(x);
    if (x != x) return x;
    return detail::narrowed(detail::exp_wide(x));
}

/// -∞ of 0, NaN below.
constexpr double log(double x) {
    if (!std::is_constant_evaluated()) return std::log(x);
    if (x != x || x == detail::kInfinity) return x;
    if (x <= 0) return x == 0 ? -detail::kInfinity : detail::kNaN;
    return double(detail::log_wide(x));
}

/// x^y, as C's pow.
constexpr double pow(double x, double y) {
    if (!std::is_constant_evaluated()) return std::pow(x, y);
    if (y == 0 || x == 1) return 1;
    if (x != x || y != y) return detail::kNaN;
    const bool is_negative = std::bit_cast<std::uint64_t>(x) >> 63 != 0;
    if (x < 0 && x != -detail::kInfinity && !detail::is_whole(y)) return detail::kNaN;
    const double size = x < 0 ? -x : x, sign = is_negative && detail::is_odd(y) ? -1 : 1;
    const bool is_infinite = y == detail::kInfinity || y == -detail::kInfinity;
    if (size == 1) return sign;
    if (is_infinite) return (size > 1) == (y > 0) ? detail::kInfinity : 0;
    if (size == 0 || size == detail::kInfinity)
        return (size == 0) == (y < 0) ? sign * detail::kInfinity : sign * 0;
    return sign * detail::narrowed(detail::exp_wide(y * detail::log_wide(size)));
}

}  // namespace fovea::math
