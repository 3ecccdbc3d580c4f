// Numbers as text and back, by <charconv> and by the C library alike.
#include "runtime/files/number_text.h"

#include <doctest/doctest.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

// The other branch, as of a C++ library without <charconv> for floats.
#undef __cpp_lib_to_chars
#define runtime runtime_by_c_library
#include "runtime/files/number_text.cpp"
#undef runtime

namespace runtime = fovea::runtime;
namespace by_c_library = fovea::runtime_by_c_library;

TEST_CASE("numbers read back the same") {
    using Limits = std::numeric_limits<double>;
    std::vector<double> values = {0.0,
                                  -0.0,
                                  1,
                                  0.1,
                                  1.0 / 3,
                                  1e22,
                                  5e-324,
                                  Limits::max(),
                                  Limits::min(),
                                  1e-7,
                                  123456789012345678.0};
    for (int i = 1; i < 1000; ++i) values.push_back(std::sin(i) * std::pow(10.0, i % 600 - 300));
    for (const double value : values) {
        CAPTURE(value);
        std::size_t length = 0;
        for (const std::string& text :
             {runtime::number_text(value), by_c_library::number_text(value)}) {
            CHECK(runtime::read_number(text, length) == value);
            CHECK(length == text.size());
            CHECK(by_c_library::read_number(text, length) == value);
            CHECK(length == text.size());
        }
        CHECK(runtime::number_text(value).size() <= by_c_library::number_text(value).size());
    }
}

TEST_CASE("what is no number, or follows it") {
    for (const auto read : {runtime::read_number, by_c_library::read_number}) {
        const auto length_of = [&](const char* text) {
            std::size_t length = 7;
            read(text, length);
            return length;
        };
        CHECK(length_of("1.5x") == 3);
        CHECK(length_of("-2e3,") == 4);
        CHECK(length_of("0x10") == 1);
        for (const char* none : {"", "x", " 1", "+1", "1e400", "-1e400", "1e-400"})
            CHECK_MESSAGE(length_of(none) == 0, none);
    }
}
