// Normalizers by their type.
#include "normalizers.h"

#include <map>

#include "../../text/utf8.h"
#include "../character.h"
#include "../unicode/normal_forms.h"
#include "../unicode/unicode.h"
#include "byte_letters.h"
#include "edit_text.h"
#include "split.h"

namespace fovea::runtime::tokens {

namespace {

Normalizer form_normalizer(NormalForm form) {
    return [form](NormalText& text) {
        edit(text, [&](std::string_view whole) { return normal_form(whole, form); });
    };
}

Normalizer read_sequence(const Field& field) {
    std::vector<Normalizer> steps;
    for (const Field& step : field.items("normalizers")) steps.push_back(read_normalizer(step));
    return [steps](NormalText& text) {
        for (const Normalizer& step : steps) step(text);
    };
}

Normalizer read_lowercase(const Field&) { return lower_case; }

Normalizer read_strip_accents(const Field&) {
    return [](NormalText& text) { drop_characters(text, is_mark); };
}

Normalizer read_strip(const Field& field) {
    const bool left = field["strip_left"].boolean(), right = field["strip_right"].boolean();
    return [left, right](NormalText& text) {
        std::size_t begin = 0, end = text.text.size();
        while (left && begin < end && is_white_space(character_at(text.text, begin)))
            begin += width_at(text.text, begin);
        while (right && end > begin) {
            const std::size_t last = before(text.text, end);
            if (!is_white_space(character_at(text.text, last))) break;
            end = last;
        }
        text.first = first_of_part(text.first, begin, end);
        text.text = text.text.substr(begin, end - begin);
    };
}

Normalizer read_replace(const Field& field) {
    const Pattern pattern = read_split_pattern(field["pattern"]);
    const std::string content = field["content"].text();
    return [pattern, content](NormalText& text) {
        const std::vector<PatternMatch> matches = pattern.matches(text.text);
        if (!matches.empty()) replace_matches(text, matches, content);
    };
}

Normalizer read_prepend(const Field& field) {
    const std::string start = field["prepend"].text();
    return [start](NormalText& text) {
        if (text.text.empty()) return;
        text.text.insert(0, start);
        if (text.first > 0) text.first += start.size();
    };
}

/// Control characters go, and what else is white space to people becomes a space.
Normalizer read_nmt(const Field&) {
    return [](NormalText& text) {
        drop_characters(text, [](char32_t c) {
            return (c >= 1 && c <= 8) || c == 0xB || (c >= 0xE && c <= 0x1F) || c == 0x7F ||
                   c == 0x8F || c == 0x9F;
        });
        map_characters(text, [](char32_t c) -> char32_t {
            const bool is_space = c == 9 || c == 10 || c == 12 || c == 13 || c == 0x1680 ||
                                  (c >= 0x200B && c <= 0x200F) || c == 0x2028 || c == 0x2029 ||
                                  c == 0x2581 || c == 0xFEFF || c == 0xFFFD;
            return is_space ? ' ' : c;
        });
    };
}

Normalizer read_byte_level(const Field&) {
    return [](NormalText& text) {
        edit(text, [](std::string_view whole) {
            std::string letters;
            append_letters(letters, whole);
            return letters;
        });
    };
}

}  // namespace

Normalizer read_normalizer(const Field& field) {
    static const std::map<std::string, Normalizer (*)(const Field&)> kinds = {
        {"Sequence", read_sequence},
        {"NFC", [](const Field&) { return form_normalizer(NormalForm::nfc); }},
        {"NFD", [](const Field&) { return form_normalizer(NormalForm::nfd); }},
        {"NFKC", [](const Field&) { return form_normalizer(NormalForm::nfkc); }},
        {"NFKD", [](const Field&) { return form_normalizer(NormalForm::nfkd); }},
        {"Lowercase", read_lowercase},
        {"StripAccents", read_strip_accents},
        {"Strip", read_strip},
        {"Replace", read_replace},
        {"Prepend", read_prepend},
        {"Nmt", read_nmt},
        {"ByteLevel", read_byte_level},
        {"BertNormalizer", read_bert_normalizer},
        {"Precompiled", read_precompiled}};
    const Field type = field["type"];
    const auto kind = kinds.find(type.text());
    if (kind == kinds.end()) type.refuse("is '{}', a normalizer without code here", {type.text()});
    return kind->second(field);
}

}  // namespace fovea::runtime::tokens
