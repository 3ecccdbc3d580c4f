// By <charconv>; where the C++ library has it for whole numbers alone, by the C library.
#include "number_text.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace fovea::runtime {

#ifdef __cpp_lib_to_chars

std::string number_text(double value) {
    std::array<char, 40> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
    return {buffer.data(), end};
}

double read_number(std::string_view text, std::size_t& length) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    length = error == std::errc() ? static_cast<std::size_t>(end - text.data()) : 0;
    return value;
}

#else

std::string number_text(double value) {
    constexpr int kDigits = 17;  // tell every float64 from its neighbours
    std::array<char, 40> buffer{};
    for (int digits = 1; digits <= kDigits; ++digits) {
        std::snprintf(buffer.data(), buffer.size(), "%.*g", digits, value);
        if (std::strtod(buffer.data(), nullptr) == value) break;
    }
    return buffer.data();
}

double read_number(std::string_view text, std::size_t& length) {
    // What strtod takes besides: hexadecimal digits, and what stands before a number.
    const std::string decimal(text.substr(0, text.find_first_of("xX")));
    length = 0;
    if (decimal.empty() || decimal.find_first_of(" \t\n\v\f\r+") == 0) return 0;
    char* end = nullptr;
    errno = 0;
    const double value = std::strtod(decimal.c_str(), &end);
    const bool is_held = errno != ERANGE || !(std::isinf(value) || value == 0);
    if (is_held) length = static_cast<std::size_t>(end - decimal.c_str());
    return value;
}

#endif

}  // namespace fovea::runtime
