// What normalizers do to a text, character by character.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "../../text/utf8.h"
#include "../character.h"
#include "../pattern/pattern.h"
#include "pieces.h"

namespace fovea::runtime::tokens {

/// Removes the characters for which `goes` holds.
template <class Goes>
void drop_characters(NormalText& text, Goes&& goes) {
    std::string out;
    out.reserve(text.text.size());
    if (!text.text.empty() && goes(character_at(text.text, 0))) text.is_first = false;
    each_character(text.text, [&](char32_t c) {
        if (!goes(c)) append_character(out, c);
    });
    text.text = std::move(out);
}

template <class Map>
void map_characters(NormalText& text, Map&& map) {
    std::string out;
    out.reserve(text.text.size());
    each_character(text.text, [&](char32_t c) { append_character(out, map(c)); });
    text.text = std::move(out);
}

/// Each character by itself in lower case, İ as i and a dot above.
void lower_case(NormalText& text);

/// `text` with `content` in the place of each match.
std::string with_replaced(std::string_view text, const std::vector<PatternMatch>& matches,
                          std::string_view content);

}  // namespace fovea::runtime::tokens
