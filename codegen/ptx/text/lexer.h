// Cuts PTX text into words and marks.
#pragma once

#include <string_view>
#include <vector>

namespace fovea::ptx {

struct Token {
    enum class Kind { word, mark, text, end };
    Kind kind = Kind::end;
    std::string_view text;  // a word with its dots and "::"; one character of punctuation; a string
    int line = 0;

    bool is(std::string_view what) const { return kind != Kind::text && text == what; }
};

/// The tokens without comments, closed by one of kind `end`; they point into `text`.
std::vector<Token> lex(std::string_view text);

}  // namespace fovea::ptx
