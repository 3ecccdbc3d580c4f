// What makes tokens of a piece of text.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "../field.h"
#include "token_ids.h"

namespace fovea::runtime::tokens {

class Model {
  public:
    virtual ~Model() = default;

    /// Where a piece may be cut without changing its ids: at the end of each part, the last one
    /// being the end of the piece.
    virtual void append_cuts(std::string_view piece, std::vector<std::size_t>& ends) const {
        ends.push_back(piece.size());
    }

    /// Appends the ids of a piece, which is UTF-8 and not empty.
    virtual void encode(std::string_view piece, std::vector<std::int32_t>& ids) const = 0;

    const TokenIds& tokens() const { return tokens_; }

  protected:
    Model() = default;
    Model(const Model&) = delete;

    TokenIds tokens_;
};

/// The model that an object of a tokenizer.json describes. UserError for one that is unknown.
std::unique_ptr<const Model> read_model(const Field& field);

std::unique_ptr<const Model> read_byte_pairs(const Field& field);
std::unique_ptr<const Model> read_unigram(const Field& field);
std::unique_ptr<const Model> read_word_pieces(const Field& field);
std::unique_ptr<const Model> read_word_level(const Field& field);

}  // namespace fovea::runtime::tokens
