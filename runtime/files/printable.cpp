// Control characters in UTF-8: single bytes, and 0xC2 before a byte from 0x80 to 0x9F.
#include "printable.h"

namespace fovea::runtime {

namespace {

void append_escaped(std::string& text, unsigned char value) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    text += "\\x";
    text += kDigits[value >> 4];
    text += kDigits[value & 15];
}

}  // namespace

std::string printable(std::string_view text, LineFeeds line_feeds) {
    std::string result;
    result.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
        if (byte == 0xC2 && next >= 0x80 && next <= 0x9F) {
            append_escaped(result, next);
            ++i;
        } else if (byte == '\n' && line_feeds == LineFeeds::stay) {
            result += '\n';
        } else if (byte < 0x20 || byte == 0x7F) {
            append_escaped(result, byte);
        } else {
            result += text[i];
        }
    }
    return result;
}

}  // namespace fovea::runtime
