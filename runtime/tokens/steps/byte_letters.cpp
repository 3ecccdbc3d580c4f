// Both directions as tables, made when they are first used.
#include "byte_letters.h"

#include <array>

#include "../../text/utf8.h"

namespace fovea::runtime::tokens {

namespace {

struct ByteLetters {
    std::array<std::string, 256> letters;
    std::array<std::int16_t, 0x200> bytes;
};

bool is_printable(unsigned byte) {
    return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte != 0xAD);
}

ByteLetters make_letters() {
    ByteLetters tables;
    tables.bytes.fill(-1);
    char32_t next = 0x100;
    for (unsigned byte = 0; byte < 256; ++byte) {
        const char32_t letter = is_printable(byte) ? byte : next++;
        append_character(tables.letters[byte], letter);
        tables.bytes[letter] = static_cast<std::int16_t>(byte);
    }
    return tables;
}

const ByteLetters& byte_letters() {
    static const ByteLetters tables = make_letters();
    return tables;
}

}  // namespace

std::string_view letter_of(std::uint8_t byte) { return byte_letters().letters[byte]; }

std::optional<std::uint8_t> byte_of(char32_t letter) {
    if (letter >= byte_letters().bytes.size() || byte_letters().bytes[letter] < 0)
        return std::nullopt;
    return static_cast<std::uint8_t>(byte_letters().bytes[letter]);
}

void append_letters(std::string& out, std::string_view text) {
    const ByteLetters& tables = byte_letters();
    for (const char c : text) out += tables.letters[static_cast<unsigned char>(c)];
}

}  // namespace fovea::runtime::tokens
