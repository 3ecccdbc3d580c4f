// UTF-8: what is accepted, what is refused and where.
#include "../../../runtime/text/utf8.h"

#include <doctest/doctest.h>

#include <cstdint>

using namespace fovea::runtime;

TEST_CASE("every character survives encoding and decoding") {
    for (char32_t c = 0; c <= 0x10FFFF; ++c) {
        if (c >= 0xD800 && c <= 0xDFFF) continue;
        std::string text;
        append_character(text, c);
        std::size_t at = 0;
        const bool same = decode_character(text, at) == c && at == text.size();
        if (!same) FAIL("U+" << static_cast<std::uint32_t>(c) << " (decimal)");
    }
}

TEST_CASE("what is not UTF-8 is found at its byte") {
    CHECK(find_invalid_utf8("plain") == 5);
    CHECK(find_invalid_utf8("\xC3\xA9") == 2);
    CHECK(find_invalid_utf8("a\xFFz") == 1);
    CHECK(find_invalid_utf8("ab\x80") == 2);                // a continuation alone
    CHECK(find_invalid_utf8("\xC3") == 0);                  // truncated
    CHECK(find_invalid_utf8("a\xC0\x80") == 1);             // overlong
    CHECK(find_invalid_utf8("\xE0\x80\x80") == 0);          // overlong
    CHECK(find_invalid_utf8("\xED\xA0\x80") == 0);          // a surrogate
    CHECK(find_invalid_utf8("\xF4\x90\x80\x80") == 0);      // above U+10FFFF
    CHECK(find_invalid_utf8("\xF0\x9F\x98\x80 \xE9") == 5);  // Latin-1 after an emoji
}
