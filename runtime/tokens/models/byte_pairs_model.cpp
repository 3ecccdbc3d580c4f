// Byte-pair encoding (Sennrich, Haddow and Birch 2016): of a piece's characters, the pair of the
// earliest merge is joined until no merge is left.
#include <string>

#include "../../text/utf8.h"
#include "../character.h"
#include "byte_fallback.h"
#include "merge_pairs.h"
#include "model.h"

namespace fovea::runtime::tokens {

namespace {

class BytePairsModel : public Model {
  public:
    explicit BytePairsModel(const Field& field)
        : prefix_(field.text_or("continuing_subword_prefix", "")),
          suffix_(field.text_or("end_of_word_suffix", "")),
          fuses_unknown_(field.boolean_or("fuse_unk", false)),
          falls_back_(field.boolean_or("byte_fallback", false)),
          ignores_merges_(field.boolean_or("ignore_merges", false)),
          is_plain_(prefix_.empty() && suffix_.empty()) {
        if (const auto dropout = field.find("dropout"))
            if (dropout->number() != 0)
                dropout->refuse("asks for pieces at random, which are not made here");
        tokens_ = TokenIds(field["vocab"]);
        bytes_ = ByteIds(tokens_);
        read_unknown(field);
        read_merges(field);
        read_letters();
    }

    void encode(std::string_view piece, std::vector<std::int32_t>& ids) const override {
        if (ignores_merges_)
            if (const std::int32_t id = tokens_.id_of(piece); id != kNoToken)
                return ids.push_back(id);
        const std::size_t start = ids.size();
        append_symbols(piece, ids);
        merges_.apply(ids, start);
    }

    /// Two letters that stand together in no merged token stay apart.
    void append_cuts(std::string_view piece, std::vector<std::size_t>& ends) const override {
        constexpr std::size_t kShort = 24;
        if (is_plain_ && !ignores_merges_ && piece.size() > kShort) {
            bool was_known = false;
            char32_t last = 0;
            for (std::size_t at = 0; at < piece.size(); at += width_at(piece, at)) {
                const char32_t c = character_at(piece, at);
                // What is unknown may be fused.
                const bool is_known = symbol_of(piece, at, at + width_at(piece, at)) != kNoToken;
                if (is_known && was_known && !joins_.contains(std::int32_t(last), std::int32_t(c)))
                    ends.push_back(at);
                was_known = is_known;
                last = c;
            }
        }
        ends.push_back(piece.size());
    }

  private:
    static constexpr std::size_t kLetters = 0x3000;  // those that an array holds the ids of

    void read_unknown(const Field& field) {
        const auto unknown = field.find("unk_token");
        if (!unknown) return;
        unknown_ = tokens_.id_of(unknown->text());
        if (unknown_ == kNoToken)
            unknown->refuse("is '{}', which model.vocab lacks", {unknown->text()});
    }

    std::int32_t known(const Field& merge, std::string_view token) const {
        const std::int32_t id = tokens_.id_of(token);
        if (id == kNoToken) merge.refuse("has '{}', which model.vocab lacks", {token});
        return id;
    }

    void read_merge(const Field& merge, std::uint32_t rank) {
        std::string_view left, right;
        if (merge.json().is_array()) {
            const Json::Array& pair = merge.json().array();
            if (pair.size() != 2 || !pair[0].is_string() || !pair[1].is_string())
                merge.refuse("is no pair of tokens");
            left = pair[0].string();
            right = pair[1].string();
        } else {
            const std::string_view line = merge.text();
            const std::size_t space = line.find(' ');
            if (space == line.npos || line.find(' ', space + 1) != line.npos)
                merge.refuse("is '{}', no two tokens with a space between them", {line});
            left = line.substr(0, space);
            right = line.substr(space + 1);
        }
        const std::int32_t first = known(merge, left), second = known(merge, right);
        if (!right.starts_with(prefix_))
            merge.refuse("has '{}', which does not start with '{}'", {right, prefix_});
        const std::string both = std::string(left) + std::string(right.substr(prefix_.size()));
        merges_.add(first, second, rank, known(merge, both));
        if (left.empty() || right.empty()) merge.refuse("has an empty token");
        joins_.add(std::int32_t(character_at(left, before(left, left.size()))),
                   std::int32_t(character_at(right, 0)), 0, 0);
    }

    void read_merges(const Field& field) {
        const std::vector<Field> merges = field["merges"].items();
        merges_.reserve(merges.size());
        std::uint32_t rank = 0;
        for (const Field& merge : merges) {
            // Lines of a merges.txt may have come with their heading.
            if (merge.json().is_string() && merge.text().starts_with("#version")) continue;
            read_merge(merge, rank++);
        }
    }

    void read_letters() {
        letters_.assign(kLetters, kNoToken);
        for (char32_t c = 0; c < kLetters; ++c) {
            std::string letter;
            append_character(letter, c);
            letters_[c] = tokens_.id_of(letter);
        }
    }

    std::int32_t symbol_of(std::string_view piece, std::size_t at, std::size_t end) const {
        const char32_t c = character_at(piece, at);
        if (is_plain_ && c < kLetters) return letters_[c];
        const std::string_view letter = piece.substr(at, end - at);
        if (is_plain_) return tokens_.id_of(letter);
        return tokens_.id_of(with_affixes(letter, at == 0, end == piece.size()));
    }

    std::string with_affixes(std::string_view letter, bool is_first, bool is_last) const {
        std::string text = is_first ? std::string() : prefix_;
        text += letter;
        return is_last ? text + suffix_ : text;
    }

    /// What is unknown waits for the next letter that is known: bytes come before it.
    void append_symbols(std::string_view piece, std::vector<std::int32_t>& ids) const {
        bool waits = false;
        for (std::size_t at = 0; at < piece.size();) {
            const std::size_t end = at + width_at(piece, at);
            const std::int32_t id = symbol_of(piece, at, end);
            if (id != kNoToken) {
                if (waits) ids.push_back(unknown_);
                waits = false;
                ids.push_back(id);
            } else if (!append_bytes(piece, at, end, ids) && unknown_ != kNoToken) {
                if (waits && !fuses_unknown_) ids.push_back(unknown_);
                waits = true;
            }
            at = end;
        }
        if (waits) ids.push_back(unknown_);
    }

    bool append_bytes(std::string_view piece, std::size_t at, std::size_t end,
                      std::vector<std::int32_t>& ids) const {
        if (!falls_back_) return false;
        const std::string_view letter = piece.substr(at, end - at);
        if (is_plain_) return bytes_.append(letter, ids);
        return bytes_.append(with_affixes(letter, at == 0, end == piece.size()), ids);
    }

    std::string prefix_, suffix_;
    bool fuses_unknown_, falls_back_, ignores_merges_;
    bool is_plain_;  // letters are tokens as they stand
    std::int32_t unknown_ = kNoToken;
    ByteIds bytes_;
    std::vector<std::int32_t> letters_;
    PairMerges merges_;
    PairMerges joins_;  // of letters: where a merge puts one behind the other
};

}  // namespace

std::unique_ptr<const Model> read_byte_pairs(const Field& field) {
    return std::make_unique<BytePairsModel>(field);
}

}  // namespace fovea::runtime::tokens
