// Tokenizers of Hugging Face's tokenizer.json: texts to ids and back, as the package `tokenizers`
// has them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fovea::runtime::tokens {

/// Whether the tokens around a text (<s>, [CLS]) are added, and special ones decoded.
enum class Special { with, without };

/// A tokenizer of a file. Copies share it; any number of threads may use one at a time.
///
/// What a file says about truncation and padding, which are of batches, is left to the caller.
class JsonTokenizer {
  public:
    /// UserError names the file and the place in it for what is wrong or not known here.
    static JsonTokenizer read(const std::string& path);
    /// Of the text of a file, which errors call `origin`.
    static JsonTokenizer from_json(std::string_view json, const std::string& origin);

    /// The ids of a text. UserError where it is not UTF-8, and where the model has no token for
    /// something and none for what is unknown.
    std::vector<std::int32_t> encode(std::string_view text, Special special = Special::with) const;

    /// The text of ids; those that no token has are passed over. It is UTF-8: bytes that make up
    /// no character become U+FFFD.
    std::string decode(std::span<const std::int32_t> ids, Special special = Special::without) const;

    std::optional<std::int32_t> id_of(std::string_view token) const;
    std::optional<std::string> token_of(std::int32_t id) const;
    bool is_special(std::int32_t id) const;
    /// How many tokens there are, added ones included.
    std::size_t size() const;

  private:
    struct Parts;

    explicit JsonTokenizer(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}

    std::shared_ptr<const Parts> parts_;
};

/// The text of tokens that come one by one: what is given never ends inside of a character, and
/// all of it in order is what `decode` gives for all ids.
class TextStream {
  public:
    explicit TextStream(JsonTokenizer tokenizer, Special special = Special::without)
        : tokenizer_(std::move(tokenizer)), special_(special) {}

    /// The text that this id completes, which may be none.
    std::string add(std::int32_t id);
    /// What is left at the end: bytes that no character came of.
    std::string finish();

  private:
    std::string text_of_all() const { return tokenizer_.decode(ids_, special_); }

    JsonTokenizer tokenizer_;
    Special special_;
    std::vector<std::int32_t> ids_;  // from the last ones on whose text was given
    std::string given_;  // the text of those
    std::size_t given_count_ = 0;
};

}  // namespace fovea::runtime::tokens
