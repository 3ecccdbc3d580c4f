// Characters of a text that is known to be UTF-8.
#pragma once

#include <cstddef>
#include <string_view>

namespace fovea::runtime::tokens {

/// Bytes of the character at byte `at`.
inline std::size_t width_at(std::string_view text, std::size_t at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

inline char32_t character_at(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t i) {
        return char32_t(static_cast<unsigned char>(text[at + i]));
    };
    const char32_t first = byte(0);
    if (first < 0x80) return first;
    if (first < 0xE0) return (first & 0x1F) << 6 | (byte(1) & 0x3F);
    if (first < 0xF0) return (first & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
    return (first & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F);
}

inline bool is_inside_character(std::string_view text, std::size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
}

/// Where the character before byte `at`, which is not the first, starts.
inline std::size_t before(std::string_view text, std::size_t at) {
    do {
        --at;
    } while (is_inside_character(text, at));
    return at;
}

/// Calls `body(character)` for each.
template <class Body>
void each_character(std::string_view text, Body&& body) {
    for (std::size_t at = 0; at < text.size(); at += width_at(text, at))
        body(character_at(text, at));
}

}  // namespace fovea::runtime::tokens
