// Decoding a text token by token: the prompt, and where the model has a source that, is read at
// once, then each step reads one token.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

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

    /// Reads a prompt of one token at least, with room for `steps` tokens in all. Returns the
    /// logits of the token after it, valid until the next call. Of a model with a source, that is
    /// of one token at least, too; of others it is empty.
    std::span<const float> begin(std::span<const std::int32_t> source,
                                 std::span<const std::int32_t> prompt, std::int64_t steps);
    /// Reads one token more, of at most `steps` in all.
    std::span<const float> step(std::int32_t token);
    /// How many tokens have been read.
    std::int64_t position() const { return position_; }

  private:
    void check_inputs(const Model& model) const;
    DimValues sizes_of(std::int64_t source, std::int64_t prompt) const;
    void set_source(std::span<const std::int32_t> source);

    Instance prefill_, step_;
    const char* tokens_;  // the input of the text
    TextSizes sizes_;
    std::optional<TextSizes> source_sizes_;  // of models with a source
    std::int64_t position_ = 0, steps_ = 0;
};

}  // namespace fovea::runtime
