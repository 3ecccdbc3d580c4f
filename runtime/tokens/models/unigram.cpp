// Unigram models (Kudo 2018): of all ways to cut a piece into tokens, the one of the largest sum of
// scores, by dynamic programming from left to right as SentencePiece does it.
#include <algorithm>
#include <limits>

#include "../../error.h"
#include "../character.h"
#include "byte_fallback.h"
#include "byte_trie.h"
#include "model.h"

namespace fovea::runtime::tokens {

namespace {

constexpr double kUnknownPenalty = 10;

class UnigramModel : public Model {
  public:
    explicit UnigramModel(const Field& field)
        : falls_back_(field.boolean_or("byte_fallback", false)) {
        const Field vocabulary = field["vocab"];
        double least = std::numeric_limits<double>::infinity();
        std::vector<std::pair<std::string_view, std::int32_t>> texts;
        for (const Field& entry : vocabulary.items()) {
            if (!entry.json().is_array() || entry.json().array().size() != 2)
                entry.refuse("is no pair of a token and its score");
            const std::vector<Field> pair = entry.items();
            scores_.push_back(pair[1].number());
            least = std::min(least, scores_.back());
            const std::string& text = pair[0].text();
            const auto id = static_cast<std::int32_t>(scores_.size() - 1);
            tokens_.set(text, id);
            if (!text.empty()) texts.emplace_back(text, id);
        }
        for (auto& [text, id] : texts) id = tokens_.id_of(text);
        trie_ = ByteTrie(std::move(texts));
        unknown_score_ = least - kUnknownPenalty;
        bytes_ = ByteIds(tokens_);
        if (const auto unknown = field.find("unk_id")) {
            unknown_ = read_id(*unknown);
            if (static_cast<std::size_t>(unknown_) >= scores_.size())
                unknown->refuse("is {}, and the vocabulary has {} tokens",
                                {unknown_, scores_.size()});
        }
    }

    void encode(std::string_view piece, std::vector<std::int32_t>& ids) const override {
        const std::vector<Best> best = best_ends(piece);
        std::vector<Part> parts;  // from the last one on
        for (std::size_t end = piece.size(); end > 0; end = best[end].start) {
            const bool is_unknown = best[end].id == unknown_;
            if (is_unknown && !parts.empty() && parts.back().is_unknown) {
                parts.back().begin = best[end].start;
            } else {
                parts.push_back({best[end].start, end, is_unknown});
            }
        }
        for (auto part = parts.rbegin(); part != parts.rend(); ++part)
            append(piece.substr(part->begin, part->end - part->begin), ids);
    }

  private:
    static constexpr std::size_t kNoStart = ~std::size_t{0};

    /// The best way to reach a byte: its score, and its last token.
    struct Best {
        double score = 0;
        std::size_t start = kNoStart;
        std::int32_t id = kNoToken;
    };

    struct Part {
        std::size_t begin, end;
        bool is_unknown;
    };

    std::vector<Best> best_ends(std::string_view piece) const {
        std::vector<Best> best(piece.size() + 1);
        const auto offer = [&](std::size_t start, std::size_t size, double score, std::int32_t id) {
            Best& end = best[start + size];
            const double sum = score + best[start].score;
            if (end.start == kNoStart || sum > end.score) end = {sum, start, id};
        };
        for (std::size_t start = 0; start < piece.size();) {
            const std::size_t width = width_at(piece, start);
            bool has_single = false;
            trie_.each_prefix(piece.substr(start), [&](std::size_t size, std::int32_t id) {
                offer(start, size, scores_[static_cast<std::size_t>(id)], id);
                has_single |= size == width;
            });
            if (!has_single) {
                if (unknown_ == kNoToken) refuse(piece);
                offer(start, width, unknown_score_, unknown_);
            }
            start += width;
        }
        return best;
    }

    [[noreturn]] void refuse(std::string_view piece) const {
        throw UserError("the tokenizer has no tokens for all of '{}', and none for what is unknown",
                        {piece});
    }

    void append(std::string_view text, std::vector<std::int32_t>& ids) const {
        const std::int32_t id = tokens_.id_of(text);
        if (id != kNoToken) {
            ids.push_back(id);
        } else if (!falls_back_ || !bytes_.append(text, ids)) {
            if (unknown_ == kNoToken) refuse(text);
            ids.push_back(unknown_);
        }
    }

    bool falls_back_;
    std::vector<double> scores_;
    ByteTrie trie_;
    double unknown_score_ = 0;
    std::int32_t unknown_ = kNoToken;
    ByteIds bytes_;
};

}  // namespace

std::unique_ptr<const Model> read_unigram(const Field& field) {
    return std::make_unique<UnigramModel>(field);
}

}  // namespace fovea::runtime::tokens
