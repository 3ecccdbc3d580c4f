// Decoding a text token by token: the prompt, and where the model has a source that, is read at
// once, then each step reads one token of each text.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "../decoding/cached_rows.h"
#include "../session.h"
#include "text_sizes.h"

namespace fovea::runtime {

/// The programs `prefill` and `decode_step` of a model, wired to each other by the names of their
/// caches, which each step writes in place.
class TokenDecoder {
  public:
    /// UserError where the model has no such programs, or one with another input than tokens, or
    /// with logits that are not one number for each token.
    TokenDecoder(const Model& model, Parameters& parameters);
    /// Whether a model can be decoded so.
    static bool fits(const Model& model);
    /// Whether its texts are answers to another one, input `src` of `prefill`.
    static bool has_source(const Model& model);

    /// Whether texts of different lengths are read together; else `start` takes one.
    bool takes_many() const { return takes_many_; }

    /// Why the rows of a text's beam cannot go on from each other; empty where they can.
    std::string why_not_beams() const;

    /// UserError where a prompt, or what it answers to, has a token that the model has not. Before
    /// `start`, of which nothing is left.
    void verify_tokens(std::span<const std::int32_t> source, std::span<const std::int32_t> prompt);

    /// Makes room for `texts` of at most `steps` tokens each, none of which has begun: `beam` rows
    /// for each, text by text. A source has `source` tokens, one at least; 0 for models without.
    void start(std::int64_t texts, std::int64_t steps, std::int64_t source = 0,
               std::int64_t beam = 1);
    /// Reads the prompt of a row, of one token at least, and what it answers to; what the row has
    /// read before is forgotten. Returns the logits of the token after it, valid until the next
    /// call.
    std::span<const float> read(std::int64_t row, std::span<const std::int32_t> source,
                                std::span<const std::int32_t> prompt);
    /// Reads one token more of each row, [rows]; of rows that have not begun, any. Returns logits
    /// [rows, words], valid until the next call.
    std::span<const float> step(std::span<const std::int32_t> tokens);
    /// Row i goes on from where row parents[i] is; -1: it has ended.
    void follow(std::span<const std::int32_t> parents);
    /// The row has ended: it takes no more part, until it reads another prompt.
    void end(std::int64_t row);
    /// How many numbers logits are, of what has been started.
    std::int64_t words() const;
    /// How many tokens a row has read.
    std::int64_t position(std::int64_t row) const { return positions_[std::size_t(row)]; }

  private:
    void check_inputs(const Model& model) const;
    bool has_rows(const Model& model) const;
    DimValues sizes_of(std::int64_t prompt, std::int64_t rows) const;
    void fill_prompt(std::span<const std::int32_t> source, std::span<const std::int32_t> prompt);
    static void set_source_length(Instance& program, std::size_t rows, std::size_t length);
    void place_positions();

    Instance prefill_, step_;
    const char* tokens_;  // the input of the text
    TextSizes sizes_;
    std::optional<TextSizes> source_sizes_;  // of models with a source
    CachedRows cached_;
    bool takes_many_ = false, has_stepped_ = false;
    std::vector<std::int32_t> positions_;  // of rows; 0: not begun
    std::int64_t steps_ = 0, source_ = 0;
};

}  // namespace fovea::runtime
