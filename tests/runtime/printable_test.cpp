// Control characters are shown, all else stays.
#include "runtime/files/printable.h"

#include <doctest/doctest.h>

using namespace fovea::runtime;

TEST_CASE("printable: control characters of both kinds are escaped") {
    CHECK(printable("Ça va, 中 😀\\") == "Ça va, 中 😀\\");
    CHECK(printable("a\nb\tc\r\x1b[31m\x7f") == "a\\x0ab\\x09c\\x0d\\x1b[31m\\x7f");
    CHECK(printable("\xc2\x9b"
                    "1m \xc2\xa0") == "\\x9b1m \xc2\xa0");
    CHECK(printable("a\nb\x1b", LineFeeds::stay) == "a\nb\\x1b");
    CHECK(printable(std::string_view("\0\xc2", 2)) == "\\x00\xc2");
}
