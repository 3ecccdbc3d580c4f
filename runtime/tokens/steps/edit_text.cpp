// Lower case and replaced matches.
#include "edit_text.h"

#include "../unicode/unicode.h"

namespace fovea::runtime::tokens {

void lower_case(NormalText& text) {
    constexpr char32_t kCapitalIWithDotAbove = 0x130, kDotAbove = 0x307;
    std::string out;
    out.reserve(text.text.size());
    each_character(text.text, [&](char32_t c) {
        append_character(out, lower_case_of(c));
        if (c == kCapitalIWithDotAbove) append_character(out, kDotAbove);
    });
    text.text = std::move(out);
}

std::string with_replaced(std::string_view text, const std::vector<PatternMatch>& matches,
                          std::string_view content) {
    std::string out;
    out.reserve(text.size());
    std::size_t at = 0;
    for (const PatternMatch& match : matches) {
        out += text.substr(at, match.begin - at);
        out += content;
        at = match.end;
    }
    return out += text.substr(at);
}

}  // namespace fovea::runtime::tokens
