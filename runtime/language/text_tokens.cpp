#include "text_tokens.h"

#include "../error.h"
#include "../files/files.h"
#include "../files/json.h"
#include "../options.h"
#include "../text/utf8.h"
#include "../tokens/steps/byte_letters.h"

namespace fovea::runtime {

namespace {

constexpr const char* kTokensKey = "tokens";
constexpr const char* kTokenizerKey = "tokenizer";
constexpr const char* kOfBytes = "bytes";
constexpr const char* kOfTokenizer = "tokenizer.json";

std::string text_of_file(const std::string& path) {
    const std::vector<std::byte> bytes = read_file(path);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

tokens::JsonTokenizer byte_tokenizer() {
    Json::Object vocabulary;
    for (int byte = 0; byte < 256; ++byte)
        vocabulary.emplace_back(tokens::letter_of(static_cast<std::uint8_t>(byte)), byte);
    const Json::Object splits = {{"type", "ByteLevel"},
                                 {"add_prefix_space", false},
                                 {"trim_offsets", false},
                                 {"use_regex", false}};
    const Json::Object model = {
        {"type", "BPE"}, {"vocab", std::move(vocabulary)}, {"merges", Json::Array{}}};
    const Json json = Json::Object{
        {"version", "1.0"},        {"added_tokens", Json::Array{}}, {"normalizer", nullptr},
        {"pre_tokenizer", splits}, {"post_processor", nullptr},     {"decoder", splits},
        {"model", model}};
    return tokens::JsonTokenizer::from_json(json.text(), "the tokenizer of bytes");
}

TextTokens TextTokens::of_bytes() { return {byte_tokenizer(), {}}; }

TextTokens TextTokens::of_tokenizer(const std::string& path) {
    std::string json = text_of_file(path);
    tokens::JsonTokenizer tokenizer = tokens::JsonTokenizer::from_json(json, path);
    return {std::move(tokenizer), std::move(json)};
}

std::optional<TextTokens> TextTokens::of_weights(const SafetensorsFile& weights) {
    const auto found = weights.metadata().find(kTokensKey);
    if (found == weights.metadata().end()) return std::nullopt;
    if (found->second == kOfBytes) return of_bytes();
    if (found->second != kOfTokenizer)
        throw UserError("'{}': tokens in its __metadata__ is '{}', but should be {} or {}",
                        {weights.path(), found->second, kOfBytes, kOfTokenizer});
    const std::string& json = weights.metadata_at(kTokenizerKey);
    return TextTokens(tokens::JsonTokenizer::from_json(json, weights.path() + ", tokenizer"), json);
}

std::vector<std::int32_t> TextTokens::encode(std::string_view text) const {
    if (!are_bytes()) return tokenizer_.encode(text);
    std::vector<std::int32_t> ids;
    ids.reserve(text.size());
    for (const char letter : text) ids.push_back(static_cast<unsigned char>(letter));
    return ids;
}

std::string TextTokens::read_text(const std::string& path) const {
    std::string text = text_of_file(path);
    if (text.empty()) throw UserError("'{}' is empty: it should have a text", {path});
    const std::size_t invalid = are_bytes() ? text.size() : find_invalid_utf8(text);
    if (invalid == text.size()) return text;
    throw UserError("'{}' is not UTF-8 at byte {}, which its tokenizer needs: save it as UTF-8",
                    {path, invalid + 1});
}

Metadata TextTokens::metadata() const {
    if (are_bytes()) return {{kTokensKey, kOfBytes}};
    return {{kTokensKey, kOfTokenizer}, {kTokenizerKey, json_}};
}

std::int32_t read_token(const std::string& text, const char* option, const TextTokens* tokens) {
    if (const auto number = parse_integer(text); number && *number >= 0 && *number <= INT32_MAX)
        return static_cast<std::int32_t>(*number);
    const auto named = tokens ? tokens->tokenizer().id_of(text) : std::nullopt;
    if (named) return *named;
    throw UserError("{} takes the number of a token{}, not '{}'",
                    {option, tokens ? " or its name" : "", text});
}

}  // namespace fovea::runtime
