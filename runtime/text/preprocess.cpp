// d2l's `preprocess_nmt` and `tokenize_nmt` (Dive into Deep Learning, section 10.5), on UTF-8.
#include "preprocess.h"

#include <algorithm>
#include <cstddef>

#include "../error.h"
#include "lower_case.h"
#include "utf8.h"

namespace fovea::runtime {

namespace {

std::u32string decode(std::string_view text) {
    std::u32string characters;
    for (std::size_t at = 0; at < text.size();) {
        const char32_t c = decode_character(text, at);
        if (c == kNotACharacter) {
            throw UserError("the sentence is not UTF-8 at byte " + std::to_string(at + 1));
        }
        characters += c == 0xA0 || c == 0x202F ? U' ' : c;
    }
    return characters;
}

bool is_punctuation(char32_t c) { return c == ',' || c == '.' || c == '!' || c == '?'; }

}  // namespace

std::string preprocess(std::string_view text) {
    const std::u32string characters = lower_case(decode(text));
    std::string result;
    result.reserve(text.size() + 8);
    for (std::size_t i = 0; i < characters.size(); ++i) {
        if (i > 0 && is_punctuation(characters[i]) && characters[i - 1] != ' ') result += ' ';
        append_character(result, characters[i]);
    }
    return result;
}

std::vector<std::string> split_words(std::string_view text) {
    constexpr std::string_view kWhiteSpace = " \t\n\v\f\r";
    std::vector<std::string> words;
    for (std::size_t at = 0;;) {
        const std::size_t begin = text.find_first_not_of(kWhiteSpace, at);
        if (begin == std::string_view::npos) return words;
        at = std::min(text.find_first_of(kWhiteSpace, begin), text.size());
        words.emplace_back(text.substr(begin, at - begin));
    }
}

std::string join_words(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) {
        if (!text.empty()) text += ' ';
        text += word;
    }
    return text;
}

}  // namespace fovea::runtime
