// Lower case and replaced matches.
#include "edit_text.h"

#include "../unicode/unicode.h"

namespace fovea::runtime::tokens {

void lower_case(NormalText& text) {
    constexpr char32_t kCapitalIWithDotAbove = 0x130, kDotAbove = 0x307;
    edit(text, [&](std::string_view whole) {
        std::string out;
        out.reserve(whole.size());
        each_character(whole, [&](char32_t c) {
            append_character(out, lower_case_of(c));
            if (c == kCapitalIWithDotAbove) append_character(out, kDotAbove);
        });
        return out;
    });
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

void replace_matches(NormalText& text, const std::vector<PatternMatch>& matches,
                     std::string_view content) {
    if (text.first > 0) {
        std::size_t at = 0, first = 0;
        for (const PatternMatch& match : matches) {
            first += first_of_part(text.first, at, match.begin);
            if (match.end <= text.first) first += content.size();
            at = match.end;
        }
        text.first = first + first_of_part(text.first, at, text.text.size());
    }
    text.text = with_replaced(text.text, matches, content);
}

}  // namespace fovea::runtime::tokens
