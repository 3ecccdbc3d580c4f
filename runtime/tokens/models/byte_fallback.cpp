// Tokens of bytes, written and read.
#include "byte_fallback.h"

namespace fovea::runtime::tokens {

std::string byte_token(std::uint8_t byte) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    return std::string("<0x") + kDigits[byte >> 4] + kDigits[byte & 15] + ">";
}

std::optional<std::uint8_t> byte_of_token(std::string_view token) {
    if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return std::nullopt;
    unsigned value = 0;
    for (const char c : token.substr(3, 2)) {
        constexpr std::string_view kDigits = "0123456789abcdefABCDEF";
        const std::size_t digit = kDigits.find(c);
        if (digit == kDigits.npos) return std::nullopt;
        value = value * 16 + unsigned(digit < 16 ? digit : digit - 6);
    }
    return static_cast<std::uint8_t>(value);
}

}  // namespace fovea::runtime::tokens
