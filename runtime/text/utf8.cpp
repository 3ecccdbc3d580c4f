// Strict UTF-8 decoding after RFC 3629.
#include "utf8.h"

#include <algorithm>

namespace fovea::runtime {

namespace {

// The number of bytes that a first byte announces, or 0.
std::size_t announced_bytes(unsigned char first) {
    if (first < 0x80) return 1;
    if (first < 0xC2) return 0;  // a continuation, or the start of an overlong pair
    if (first < 0xE0) return 2;
    if (first < 0xF0) return 3;
    return first < 0xF5 ? 4 : 0;
}

}  // namespace

char32_t decode_character(std::string_view text, std::size_t& at) {
    if (at >= text.size()) return kNotACharacter;
    const auto first = static_cast<unsigned char>(text[at]);
    const std::size_t bytes = announced_bytes(first);
    if (bytes == 0 || bytes > text.size() - at) return kNotACharacter;
    char32_t character = bytes == 1 ? first : first & (0xFFu >> (bytes + 1));
    for (std::size_t i = 1; i < bytes; ++i) {
        const auto byte = static_cast<unsigned char>(text[at + i]);
        if ((byte & 0xC0) != 0x80) return kNotACharacter;
        character = character << 6 | (byte & 0x3Fu);
    }
    const bool overlong = (bytes == 3 && character < 0x800) || (bytes == 4 && character < 0x10000);
    const bool surrogate = character >= 0xD800 && character <= 0xDFFF;
    if (overlong || surrogate || character > 0x10FFFF) return kNotACharacter;
    at += bytes;
    return character;
}

std::size_t count_characters(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) >> 6) != 2;
    }));
}

void append_character(std::string& text, char32_t character) {
    const auto continuation = [&](int shift) {
        text += static_cast<char>(0x80 | (character >> shift & 0x3F));
    };
    if (character < 0x80) {
        text += static_cast<char>(character);
    } else if (character < 0x800) {
        text += static_cast<char>(0xC0 | character >> 6);
        continuation(0);
    } else if (character < 0x10000) {
        text += static_cast<char>(0xE0 | character >> 12);
        continuation(6);
        continuation(0);
    } else {
        text += static_cast<char>(0xF0 | character >> 18);
        continuation(12);
        continuation(6);
        continuation(0);
    }
}

std::size_t find_invalid_utf8(std::string_view text) {
    std::size_t at = 0;
    while (at < text.size() && decode_character(text, at) != kNotACharacter) {
    }
    return at;
}

}  // namespace fovea::runtime
