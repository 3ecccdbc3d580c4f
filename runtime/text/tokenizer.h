// Sentences to tokens and back: d2l's words, or the pieces of a byte-pair encoding.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "byte_pairs.h"

namespace fovea::runtime {

/// What the tokens of a vocabulary are.
enum class TokenKind {
    words,             // of the preprocessed sentence
    byte_pairs,        // of the preprocessed sentence
    cased_byte_pairs,  // of the sentence as it stands, but for white space
};

/// words, byte_pairs or cased_byte_pairs.
const char* name_of(TokenKind kind);
/// The kind of that name, or nullopt.
std::optional<TokenKind> token_kind(std::string_view name);

/// Cuts the sentences of one language into tokens.
class Tokenizer {
  public:
    /// Words.
    Tokenizer() = default;
    /// `vocabulary` holds the pieces (see BytePairs; errors name `origin`); words need none.
    Tokenizer(TokenKind kind, const Vocabulary& vocabulary, const std::string& origin);

    /// The tokens of a UTF-8 sentence (UserError otherwise), none where it has no words. One that
    /// the vocabulary lacks is as it stands in the sentence.
    std::vector<std::string> tokens(std::string_view sentence) const;
    /// Tokens as a text on one line.
    std::string text(const std::vector<std::string>& tokens) const;
    /// The words, as d2l has them, of tokens.
    std::vector<std::string> words(const std::vector<std::string>& tokens) const;

  private:
    TokenKind kind_ = TokenKind::words;
    std::optional<BytePairs> pieces_;
};

}  // namespace fovea::runtime
