// BERT's cleaning of texts (Devlin et al. 2018): control characters, white space, ideographs,
// accents, case.
#include "../unicode/normal_forms.h"
#include "../unicode/unicode.h"
#include "edit_text.h"
#include "normalizers.h"

namespace fovea::runtime::tokens {

namespace {

void clean(NormalText& text) {
    drop_characters(text, [](char32_t c) { return c == 0 || c == 0xFFFD || is_control(c); });
    map_characters(text, [](char32_t c) { return is_white_space(c) ? U' ' : c; });
}

void space_ideographs(NormalText& text) {
    edit(text, [](std::string_view whole) {
        std::string out;
        out.reserve(whole.size());
        each_character(whole, [&](char32_t c) {
            const bool is_alone = is_ideograph(c);
            if (is_alone) out += ' ';
            append_character(out, c);
            if (is_alone) out += ' ';
        });
        return out;
    });
}

void strip_accents(NormalText& text) {
    edit(text, [](std::string_view whole) { return normal_form(whole, NormalForm::nfd); });
    drop_characters(text, is_accent);
}

}  // namespace

Normalizer read_bert_normalizer(const Field& field) {
    const bool cleans = field.boolean_or("clean_text", true);
    const bool spaces = field.boolean_or("handle_chinese_chars", true);
    const bool lowers = field.boolean_or("lowercase", true);
    const bool strips = field.boolean_or("strip_accents", lowers);
    return [=](NormalText& text) {
        if (cleans) clean(text);
        if (spaces) space_ideographs(text);
        if (strips) strip_accents(text);
        if (lowers) lower_case(text);
    };
}

}  // namespace fovea::runtime::tokens
