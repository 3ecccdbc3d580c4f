// The steps of a tokenizer, one after another.
#include "tokenizer.h"

#include <mutex>

#include "../error.h"
#include "../files/files.h"
#include "../text/utf8.h"
#include "added_tokens.h"
#include "models/model.h"
#include "steps/decoders.h"
#include "steps/normalizers.h"
#include "steps/post_processor.h"
#include "steps/pre_tokenizers.h"
#include "word_cache.h"

namespace fovea::runtime::tokens {

struct JsonTokenizer::Parts {
    Normalizer normalizer;  // may be empty, as the next one and the decoder
    PreTokenizer pre_tokenizer;
    std::unique_ptr<const Model> model;
    AddedTokens added;
    std::vector<Template> templates;
    Decoder decoder;

    // A thread that finds it taken goes without.
    mutable std::mutex cache_mutex;
    mutable WordCache cache;

    explicit Parts(const Field& file);
    void encode(std::string_view word, WordCache* words, std::vector<std::int32_t>& ids) const;
    std::optional<std::string_view> token_of(std::int32_t id) const;
};

JsonTokenizer::Parts::Parts(const Field& file) {
    const std::string version = file.text_or("version", "1.0");
    if (version != "1.0") file["version"].refuse("is '{}', and 1.0 is known", {version});
    if (const auto field = file.find("normalizer")) normalizer = read_normalizer(*field);
    if (const auto field = file.find("pre_tokenizer")) pre_tokenizer = read_pre_tokenizer(*field);
    model = read_model(file["model"]);
    added = AddedTokens(file.items("added_tokens"), model->tokens(), normalizer);
    if (const auto field = file.find("post_processor")) templates = read_post_processor(*field);
    if (const auto field = file.find("decoder")) decoder = read_decoder(*field);
}

void JsonTokenizer::Parts::encode(std::string_view word, WordCache* words,
                                  std::vector<std::int32_t>& ids) const {
    if (!words || word.size() > WordCache::kLongestWord) return model->encode(word, ids);
    const std::uint64_t hash = WordCache::hash_of(word);
    if (words->append(word, hash, ids)) return;
    const std::size_t start = ids.size();
    model->encode(word, ids);
    words->keep(word, hash, std::span(ids).subspan(start));
}

std::optional<std::string_view> JsonTokenizer::Parts::token_of(std::int32_t id) const {
    const std::optional<std::string_view> token = added.token_of(id);
    return token ? token : model->tokens().token_of(id);
}

JsonTokenizer JsonTokenizer::read(const std::string& path) {
    const std::vector<std::byte> bytes = read_file(path);
    return from_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
}

JsonTokenizer JsonTokenizer::from_json(std::string_view json, const std::string& origin) {
    Json file;
    try {
        file = parse_json(json);
    } catch (const UserError& error) {
        throw UserError("'{}' is no JSON: {}", {origin, error.what()});
    }
    return JsonTokenizer(std::make_shared<const Parts>(Field(file, origin)));
}

std::vector<std::int32_t> JsonTokenizer::encode(std::string_view text, Special special) const {
    const std::size_t invalid = find_invalid_utf8(text);
    if (invalid != text.size()) throw UserError("the text is not UTF-8 at byte {}", {invalid + 1});
    Pieces pieces = parts_->added.cut(text, parts_->normalizer);
    if (parts_->pre_tokenizer) parts_->pre_tokenizer(pieces);
    const std::unique_lock lock(parts_->cache_mutex, std::try_to_lock);
    WordCache* const words = lock.owns_lock() ? &parts_->cache : nullptr;
    std::vector<std::int32_t> ids;
    ids.reserve(text.size() / 3);
    std::vector<std::size_t> ends;
    for (const TextPiece& piece : pieces.pieces) {
        if (piece.token != kNoToken) {
            ids.push_back(piece.token);
        } else if (piece.begin < piece.end) {
            const std::string_view whole = pieces.view(piece);
            ends.clear();
            parts_->model->append_cuts(whole, ends);
            std::size_t begin = 0;
            for (const std::size_t end : ends) {
                parts_->encode(whole.substr(begin, end - begin), words, ids);
                begin = end;
            }
        }
    }
    if (special == Special::with)
        for (const Template& one : parts_->templates) ids = one.filled(ids);
    return ids;
}

std::string JsonTokenizer::decode(std::span<const std::int32_t> ids, Special special) const {
    std::vector<std::string> texts;
    for (const std::int32_t id : ids) {
        const std::optional<std::string_view> token = parts_->token_of(id);
        if (!token) continue;
        if (special == Special::without && parts_->added.is_special(*token)) continue;
        texts.emplace_back(*token);
    }
    std::string text;
    if (parts_->decoder) {
        parts_->decoder(texts);
        for (const std::string& part : texts) text += part;
    } else {
        for (const std::string& part : texts) text += (&part == &texts.front() ? "" : " ") + part;
    }
    return text;
}

std::optional<std::int32_t> JsonTokenizer::id_of(std::string_view token) const {
    std::int32_t id = parts_->added.id_of(token);
    if (id == kNoToken) id = parts_->model->tokens().id_of(token);
    return id == kNoToken ? std::nullopt : std::optional(id);
}

std::optional<std::string> JsonTokenizer::token_of(std::int32_t id) const {
    const std::optional<std::string_view> token = parts_->token_of(id);
    if (!token) return std::nullopt;
    return std::string(*token);
}

bool JsonTokenizer::is_special(std::int32_t id) const {
    const std::optional<std::string_view> token = parts_->token_of(id);
    return token && parts_->added.is_special(*token);
}

std::size_t JsonTokenizer::size() const {
    const TokenIds& tokens = parts_->model->tokens();
    return tokens.size() + parts_->added.size_besides(tokens);
}

}  // namespace fovea::runtime::tokens
