// How texts become tokens, and what trained weights say of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../safetensors.h"
#include "../tokens/tokenizer.h"

namespace fovea::runtime {

/// A tokenizer whose ids 0 … 255 are the bytes of a text, which is UTF-8.
tokens::JsonTokenizer byte_tokenizer();

/// Bytes, or the tokens of a tokenizer.json. Copies share the tokenizer.
class TextTokens {
  public:
    static TextTokens of_bytes();
    /// UserError where the file is not right.
    static TextTokens of_tokenizer(const std::string& path);
    /// Those that weights were trained on; none where the file does not say. UserError where what
    /// it says is not right.
    static std::optional<TextTokens> of_weights(const SafetensorsFile& weights);

    bool are_bytes() const { return json_.empty(); }
    /// How many tokens there are.
    std::size_t size() const { return are_bytes() ? 256 : tokenizer_.size(); }
    const tokens::JsonTokenizer& tokenizer() const { return tokenizer_; }
    /// The ids of a text: of any bytes, or with the tokens that the tokenizer puts around it.
    std::vector<std::int32_t> encode(std::string_view text) const;
    /// The text of a file. UserError where it is empty, or is not UTF-8 and should be.
    std::string read_text(const std::string& path) const;
    /// The keys `tokens`, and for a tokenizer.json `tokenizer`, its text.
    Metadata metadata() const;
    friend bool operator==(const TextTokens& a, const TextTokens& b) { return a.json_ == b.json_; }

  private:
    TextTokens(tokens::JsonTokenizer tokenizer, std::string json)
        : tokenizer_(std::move(tokenizer)), json_(std::move(json)) {}

    tokens::JsonTokenizer tokenizer_;
    std::string json_;  // the file's text; empty: bytes
};

/// A token that `option` gives by its number, or by its name where there are `tokens`. UserError
/// where it is neither.
std::int32_t read_token(const std::string& text, const char* option, const TextTokens* tokens);

}  // namespace fovea::runtime
