// What the steps of a tokenizer know of Unicode's characters. The versions of Unicode are those of
// the package `tokenizers` (tools/unicode_tables.py).
#pragma once

#include <optional>
#include <string_view>

#include "character_set.h"

namespace fovea::runtime::tokens {

/// The set of a property as \p{…} of patterns names it: a general category, long or short (L, Lu,
/// Letter), or one of the scripts that tokenizers ask for. nullopt for another name.
std::optional<CharacterSet> property(std::string_view name);

/// \s, \w, \d of patterns; Oniguruma's \w in a class lacks six of Latin-1.
CharacterSet white_space();
CharacterSet pattern_word();
CharacterSet class_word();
CharacterSet decimal_digits();

bool is_white_space(char32_t c);
bool is_word(char32_t c);         // of the pre-tokenizer Whitespace and of single words
bool is_numeric(char32_t c);      // of the pre-tokenizer Digits
bool is_punctuation(char32_t c);  // of Punctuation and BertPreTokenizer
bool is_control(char32_t c);      // what BertNormalizer removes
bool is_accent(char32_t c);       // what BertNormalizer strips
bool is_mark(char32_t c);         // what StripAccents strips
bool is_ideograph(char32_t c);    // what BertNormalizer puts spaces around

/// The lower case of one character, without regard to its place; of İ the i alone.
char32_t lower_case_of(char32_t c);

}  // namespace fovea::runtime::tokens
