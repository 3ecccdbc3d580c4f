// A list of replacements, and the first bytes that UTF-8 allows (Unicode 3.9, table 3-7).
#include "clean_up.h"

#include <utility>

namespace fovea::runtime::tokens {

void clean_up(std::string& text) {
    constexpr std::pair<std::string_view, std::string_view> kCleaner[] = {
        {" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
        {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
        {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
    for (const auto& [from, to] : kCleaner)
        for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
            text.replace(at, from.size(), to);
}

std::size_t valid_start(std::string_view bytes) {
    const auto byte = [&](std::size_t i) {
        return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0u;
    };
    const unsigned first = byte(0);
    if (first < 0xC2 || first > 0xF4) return 1;
    const unsigned least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    const unsigned most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    if (byte(1) < least || byte(1) > most) return 1;
    const std::size_t width = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    std::size_t size = 2;
    while (size < width && byte(size) >= 0x80 && byte(size) <= 0xBF) ++size;
    return size;
}

}  // namespace fovea::runtime::tokens
