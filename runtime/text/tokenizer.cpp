// Words by d2l's preprocessing, pieces behind it or in its place.
#include "tokenizer.h"

#include "../error.h"
#include "preprocess.h"
#include "utf8.h"

namespace fovea::runtime {

namespace {

void verify_utf8(std::string_view sentence) {
    const std::size_t invalid = find_invalid_utf8(sentence);
    if (invalid != sentence.size())
        throw UserError("the sentence is not UTF-8 at byte " + std::to_string(invalid + 1));
}

}  // namespace

const char* name_of(TokenKind kind) {
    switch (kind) {
        case TokenKind::words: return "words";
        case TokenKind::byte_pairs: return "byte_pairs";
        case TokenKind::cased_byte_pairs: return "cased_byte_pairs";
    }
    throw InternalError("a kind of tokens without a name");
}

std::optional<TokenKind> token_kind(std::string_view name) {
    for (const TokenKind kind :
         {TokenKind::words, TokenKind::byte_pairs, TokenKind::cased_byte_pairs})
        if (name == name_of(kind)) return kind;
    return std::nullopt;
}

Tokenizer::Tokenizer(TokenKind kind, const Vocabulary& vocabulary, const std::string& origin)
    : kind_(kind) {
    if (kind != TokenKind::words) pieces_.emplace(vocabulary, origin);
}

std::vector<std::string> Tokenizer::tokens(std::string_view sentence) const {
    if (kind_ == TokenKind::words) return split_words(preprocess(sentence));
    if (kind_ == TokenKind::byte_pairs)
        return pieces_->encode(join_words(split_words(preprocess(sentence))));
    verify_utf8(sentence);
    return pieces_->encode(join_words(split_words(sentence)));
}

std::string Tokenizer::text(const std::vector<std::string>& tokens) const {
    return pieces_ ? pieces_->decode(tokens) : join_words(tokens);
}

std::vector<std::string> Tokenizer::words(const std::vector<std::string>& tokens) const {
    return pieces_ ? split_words(preprocess(pieces_->decode(tokens))) : tokens;
}

}  // namespace fovea::runtime
