// Tokens that stand in a text as they are, before any model sees it: <s>, [MASK], <|im_start|>.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "field.h"
#include "models/byte_trie.h"
#include "models/token_ids.h"
#include "steps/pieces.h"

namespace fovea::runtime::tokens {

class AddedTokens {
  public:
    AddedTokens() = default;
    /// Of the array `added_tokens`. A token that the model has keeps the model's id, another one
    /// has to have the next id that is free. `normalizer` may be empty.
    AddedTokens(const std::vector<Field>& fields, const TokenIds& model,
                const Normalizer& normalizer);

    /// Cuts a text at the tokens that are looked for before it is normalized, normalizes what
    /// stands between them, and cuts that at the others.
    Pieces cut(std::string_view text, const Normalizer& normalizer) const;

    std::int32_t id_of(std::string_view text) const;
    std::optional<std::string_view> token_of(std::int32_t id) const;
    bool is_special(std::string_view text) const { return specials_.contains(std::string(text)); }
    /// How many there are that the model has not.
    std::size_t size_besides(const TokenIds& model) const;

  private:
    struct Added {
        std::string text;
        bool is_special = false;
        bool is_word = false;  // not inside of a word
        bool strips_left = false, strips_right = false;  // white space goes with it
        bool is_normalized = false;  // looked for in the normalized text
    };

    struct Found {
        std::size_t begin, end;
        std::int32_t token;
    };

    void add(const Field& field, const TokenIds& model);
    std::int32_t next_id(const TokenIds& model) const;
    void make_tries(const std::vector<Field>& fields, const Normalizer& normalizer);
    std::vector<Found> find(std::string_view text, const ByteTrie& trie) const;
    bool stands_alone(std::string_view text, std::size_t begin, std::size_t end) const;

    std::unordered_map<std::string, std::int32_t> ids_;
    std::unordered_map<std::int32_t, Added> tokens_;
    std::unordered_set<std::string> specials_;
    std::int32_t largest_ = -1;  // of the ids
    ByteTrie before_, behind_;  // the normalizer
};

}  // namespace fovea::runtime::tokens
