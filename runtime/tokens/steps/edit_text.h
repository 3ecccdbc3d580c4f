// What normalizers do to a text, character by character.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../text/utf8.h"
#include "../character.h"
#include "../pattern/pattern.h"
#include "pieces.h"

namespace fovea::runtime::tokens {

/// Puts `edited(text)` in the place of a text: each character, with the marks behind it, becomes a
/// text of its own.
template <class Edited>
void edit(NormalText& text, Edited&& edited) {
    std::string out = edited(text.text);
    if (text.first > 0) {
        std::size_t first = edited(text.text.substr(0, text.first)).size();
        first = std::min(first, out.size());
        while (first < out.size() && is_inside_character(out, first)) ++first;
        text.first = first;
    }
    text.text = std::move(out);
}

/// Removes the characters for which `goes` holds.
template <class Goes>
void drop_characters(NormalText& text, Goes&& goes) {
    edit(text, [&](std::string_view whole) {
        std::string out;
        out.reserve(whole.size());
        each_character(whole, [&](char32_t c) {
            if (!goes(c)) append_character(out, c);
        });
        return out;
    });
}

template <class Map>
void map_characters(NormalText& text, Map&& map) {
    edit(text, [&](std::string_view whole) {
        std::string out;
        out.reserve(whole.size());
        each_character(whole, [&](char32_t c) { append_character(out, map(c)); });
        return out;
    });
}

/// Each character by itself in lower case, İ as i and a dot above.
void lower_case(NormalText& text);

/// `text` with `content` in the place of each match.
std::string with_replaced(std::string_view text, const std::vector<PatternMatch>& matches,
                          std::string_view content);

/// Puts `content` in the place of each match, whose last character it then counts as.
void replace_matches(NormalText& text, const std::vector<PatternMatch>& matches,
                     std::string_view content);

}  // namespace fovea::runtime::tokens
