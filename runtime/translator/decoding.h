// Decoding with a cache: the source is encoded once, then each step reads one token a sentence.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../session.h"

namespace fovea::runtime {

/// The programs `encode` and `decode_step` of a model, wired to each other. Decoder block N keeps
/// the memory's projected keys and values (`blockN.memory_keys`, `blockN.memory_values`) and its
/// own (`blockN.keys`, `blockN.values`), all [batch, length, hidden].
class Decoding {
  public:
    /// `dims` gives the vocabularies' sizes. Throws UserError where the model can't decode.
    Decoding(const Model& model, Parameters& parameters, DimValues dims);

    /// Encodes `sources`, [batch, src_len] with `lengths` [batch], and empties the caches, which
    /// have room for `steps` positions.
    void begin(std::span<const std::int32_t> sources, std::span<const std::int32_t> lengths,
               std::int64_t steps);
    /// Reads one token a sentence, all at `position`; positions come in order from 0. Returns the
    /// logits of the next token, [batch, tgt_vocab], valid until the next call.
    std::span<const float> step(std::span<const std::int32_t> tokens, std::int64_t position);

    /// Greedy translation of one source, which ends with `<eos>`: the tokens before `<eos>`, at
    /// most `steps`. Of equal logits the first wins.
    std::vector<std::int32_t> translate(std::span<const std::int32_t> source, std::int64_t steps);

    std::int64_t blocks() const { return blocks_; }

  private:
    void place_memory();
    void clear_caches();
    

    Instance encode_, decode_;
    DimValues dims_;
    std::int64_t blocks_ = 0;
    
};

}  // namespace fovea::runtime
