// Decoding step by step: the source is read once, with the first token of each sentence, then each
// step reads one token a row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../decoding/cached_rows.h"
#include "../session.h"

namespace fovea::runtime {

/// The programs `prefill` and `decode_step` of a model, wired to each other by the names of their
/// states: those that a step hands to the next, written in place, and those that are kept of the
/// source. A state has its sentences, or rows, along its first dim, or is the same for all.
class Decoding {
  public:
    /// `dims` gives the vocabularies' sizes. Throws UserError where the model can't decode.
    Decoding(const Model& model, Parameters& parameters, DimValues dims);

    /// Reads `sources`, [sentences, src_len] with `lengths` [sentences], and the `first` token of
    /// each target, [sentences]; starts `rows_each` rows for each, sentence by sentence, with room
    /// for `steps` positions. Returns the logits of the second token, [sentences, tgt_vocab], valid
    /// until the next call.
    std::span<const float> begin(std::span<const std::int32_t> sources,
                                 std::span<const std::int32_t> lengths,
                                 std::span<const std::int32_t> first, std::int64_t steps,
                                 std::int64_t rows_each = 1);
    /// Reads one token a row, all at `position`; positions come in order from 1. Returns the
    /// logits of the next token, [rows, tgt_vocab], valid until the next call.
    std::span<const float> step(std::span<const std::int32_t> tokens, std::int64_t position);
    /// Row i goes on from where row parents[i] is.
    void follow(std::span<const std::int32_t> parents) { cached_.follow(parents); }

  private:
    void start_rows(std::int64_t sentences, std::int64_t rows_each);

    Instance prefill_, step_;
    const TensorSpec& position_;
    DimValues dims_;
    CachedRows cached_;
};

}  // namespace fovea::runtime
