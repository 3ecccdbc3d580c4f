// Decoding step by step: the source is encoded once, then each step reads one token a row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../session.h"

namespace fovea::runtime {

/// The programs `encode` and `decode_step` of a model, wired to each other by the names of their
/// tensors. What a step hands to the next is a state, written in place: it starts as the encoder's
/// output of its name, or as zeros.
/// Any other input of a step but `token`, `position`, `src` and `src_lens` is an output of the
/// encoder.
class Decoding {
  public:
    /// `dims` gives the vocabularies' sizes. Throws UserError where the model can't decode.
    Decoding(const Model& model, Parameters& parameters, DimValues dims);

    /// Encodes `sources`, [sentences, src_len] with `lengths` [sentences], and starts `rows_each`
    /// rows for each, sentence by sentence, with room for `steps` positions.
    void begin(std::span<const std::int32_t> sources, std::span<const std::int32_t> lengths,
               std::int64_t steps, std::int64_t rows_each = 1);
    /// Reads one token a row, all at `position`; positions come in order from 0. Returns the
    /// logits of the next token, [rows, tgt_vocab], valid until the next call.
    std::span<const float> step(std::span<const std::int32_t> tokens, std::int64_t position);
    /// Row i goes on from where row parents[i] is.
    void reorder(std::span<const std::int32_t> parents);

  private:
    /// A tensor of the step, of `bytes` with all its rows.
    struct Kept {
        std::string name;
        bool is_state = false;  // else it stays as the encoder made it
        bool is_encoded = false;
        std::byte* address = nullptr;
        std::size_t bytes = 0;
    };

    void find_kept();
    void start_rows(std::int64_t sentences, std::int64_t rows_each);

    Instance encode_, decode_;
    DimValues dims_;
    std::vector<Kept> kept_;
    std::vector<std::byte> row_copies_;
};

}  // namespace fovea::runtime
