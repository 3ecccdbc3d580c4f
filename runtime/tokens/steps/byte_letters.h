// GPT-2's letters for bytes: printable ones stand for themselves, the others from U+0100 on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fovea::runtime::tokens {

/// The letter of a byte, as UTF-8 of one or two bytes.
std::string_view letter_of(std::uint8_t byte);
/// The byte that a letter stands for, or nullopt.
std::optional<std::uint8_t> byte_of(char32_t letter);
/// Adds the letters of the bytes of `text`.
void append_letters(std::string& out, std::string_view text);

}  // namespace fovea::runtime::tokens
