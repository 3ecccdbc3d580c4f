// UTF-8: reading and appending single characters, strictly.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fovea::runtime {

/// What decode_character returns where the bytes are not UTF-8.
inline constexpr char32_t kNotACharacter = 0xFFFFFFFF;

/// The character that starts at byte `at` of `text`; `at` moves behind it. Truncated and overlong
/// forms, surrogates and values above U+10FFFF give kNotACharacter and leave `at` where it is.
char32_t decode_character(std::string_view text, std::size_t& at);

/// How many characters a UTF-8 text has.
std::size_t count_characters(std::string_view text);

/// Appends the UTF-8 form of `character`.
void append_character(std::string& text, char32_t character);

/// The offset of the first byte of `text` that is not UTF-8, or text.size().
std::size_t find_invalid_utf8(std::string_view text);

}  // namespace fovea::runtime
