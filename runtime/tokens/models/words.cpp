// Whole words (WordLevel), and words from their longest known starts (WordPiece, Schuster and
// Nakajima 2012).
#include <algorithm>

#include "../../error.h"
#include "../../text/utf8.h"
#include "../character.h"
#include "model.h"

namespace fovea::runtime::tokens {

namespace {

class WordLevelModel : public Model {
  public:
    explicit WordLevelModel(const Field& field) : unknown_text_(field["unk_token"].text()) {
        tokens_ = TokenIds(field["vocab"]);
        unknown_ = tokens_.id_of(unknown_text_);
    }

    void encode(std::string_view piece, std::vector<std::int32_t>& ids) const override {
        const std::int32_t id = tokens_.id_of(piece);
        if (id == kNoToken && unknown_ == kNoToken)
            throw UserError("the tokenizer has no token for '{}', nor its '{}' for what is unknown",
                            {piece, unknown_text_});
        ids.push_back(id == kNoToken ? unknown_ : id);
    }

  private:
    std::string unknown_text_;
    std::int32_t unknown_ = kNoToken;
};

class WordPieceModel : public Model {
  public:
    explicit WordPieceModel(const Field& field)
        : unknown_text_(field["unk_token"].text()),
          prefix_(field["continuing_subword_prefix"].text()),
          most_characters_(field["max_input_chars_per_word"].count()) {
        tokens_ = TokenIds(field["vocab"]);
        unknown_ = tokens_.id_of(unknown_text_);
    }

    void encode(std::string_view word, std::vector<std::int32_t>& ids) const override {
        const std::size_t start = ids.size();
        if (count_characters(word) <= most_characters_ && encode_parts(word, ids)) return;
        ids.resize(start);
        if (unknown_ == kNoToken)
            throw UserError(
                "the tokenizer has no tokens for '{}', nor its '{}' for what is unknown",
                {word, unknown_text_});
        ids.push_back(unknown_);
    }

  private:
    bool encode_parts(std::string_view word, std::vector<std::int32_t>& ids) const {
        std::string part;
        for (std::size_t at = 0; at < word.size();) {
            part = at == 0 ? std::string() : prefix_;
            const std::size_t head = part.size();
            if (tokens_.longest() <= head) return false;
            std::size_t size = std::min(word.size() - at, tokens_.longest() - head);
            while (at + size < word.size() && (word[at + size] & 0xC0) == 0x80) --size;
            part += word.substr(at, size);
            std::int32_t id = kNoToken;
            while (part.size() > head && (id = tokens_.id_of(part)) == kNoToken)
                part.resize(before(part, part.size()));
            if (id == kNoToken) return false;
            ids.push_back(id);
            at += part.size() - head;
        }
        return true;
    }

    std::string unknown_text_, prefix_;
    std::uint32_t most_characters_;
    std::int32_t unknown_ = kNoToken;
};

}  // namespace

std::unique_ptr<const Model> read_word_level(const Field& field) {
    return std::make_unique<WordLevelModel>(field);
}

std::unique_ptr<const Model> read_word_pieces(const Field& field) {
    return std::make_unique<WordPieceModel>(field);
}

}  // namespace fovea::runtime::tokens
