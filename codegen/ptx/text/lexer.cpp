// One pass over the characters.
#include "codegen/ptx/text/lexer.h"

#include <cctype>

#include "codegen/ptx/text/syntax.h"

namespace fovea::ptx {
namespace {

bool in_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%' ||
           c == '.';
}

/// Where the word that starts at `at` ends: "shared::cta" is one word, "label:" is not.
std::size_t end_of_word(std::string_view text, std::size_t at) {
    for (;;) {
        while (at < text.size() && in_word(text[at])) ++at;
        const bool joined = text.substr(at, 2) == "::" && at + 2 < text.size() &&
                            in_word(text[at + 2]) && text[at + 2] != '%';
        if (!joined) return at;
        at += 2;
    }
}

}  // namespace

std::vector<Token> lex(std::string_view text) {
    std::vector<Token> tokens;
    int line = 1;
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at];
        if (c == '\n') ++line;
        if (std::isspace(static_cast<unsigned char>(c))) {
            ++at;
        } else if (text.substr(at, 2) == "//") {
            at = std::min(text.find('\n', at), text.size());
        } else if (text.substr(at, 2) == "/*") {
            const std::size_t end = text.find("*/", at + 2);
            if (end == text.npos) throw ParseError(line, "a comment without its end");
            for (; at < end + 2; ++at) line += text[at] == '\n';
        } else if (c == '"') {
            const std::size_t end = text.find('"', at + 1);
            if (end == text.npos) throw ParseError(line, "a string without its closing quote");
            tokens.push_back({Token::Kind::text, text.substr(at + 1, end - at - 1), line});
            at = end + 1;
        } else {
            const std::size_t end = in_word(c) ? end_of_word(text, at) : at + 1;
            const auto kind = in_word(c) ? Token::Kind::word : Token::Kind::mark;
            tokens.push_back({kind, text.substr(at, end - at), line});
            at = end;
        }
    }
    tokens.push_back({Token::Kind::end, "", line});
    return tokens;
}

}  // namespace fovea::ptx
