// Sentences with holes, and what fills them.
#include "runtime/format.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

#include "runtime/error.h"

using namespace fovea::runtime;

TEST_CASE("format: holes are filled in order, by texts, letters and whole numbers") {
    const std::string name = "W_q";
    CHECK(format("'{}' has {} of {}", {name, 3, "five"}) == "'W_q' has 3 of five");
    CHECK(format("{}{}", {std::string_view("abcd").substr(1, 2), 'x'}) == "bcx");
    CHECK(format("[{}]", {std::string("a\0b", 3)}) == std::string("[a\0b]", 5));
    CHECK(format("{} to {}", {std::numeric_limits<std::int64_t>::min(),
                              std::numeric_limits<std::uint64_t>::max()}) ==
          "-9223372036854775808 to 18446744073709551615");
    CHECK(format("{}", {short(-7)}) == "-7");
}

TEST_CASE("format: pieces are not looked into, and braces that are no hole stay") {
    CHECK(format("{} or '}', {", {"{}"}) == "{} or '}', {");
    CHECK(format("{} is {}", {"one"}) == "one is {}");
    CHECK(format("none", {"one", 2}) == "noneone2");
}

TEST_CASE("errors take sentences with holes, and whole ones as they are") {
    CHECK_THROWS_WITH_AS(throw UserError("no '{}' at {}", {"x", 1}), "no 'x' at 1", UserError);
    CHECK_THROWS_WITH_AS(throw InternalError("no {}", {2u}), "no 2", InternalError);
    CHECK_THROWS_WITH_AS(throw UserError("as {} is"), "as {} is", UserError);
}
