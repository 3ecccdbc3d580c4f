// The data of a training or an evaluation: words counted or pieces read, pairs numbered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "../../text/batches.h"
#include "../../trainer/training_data.h"
#include "../weights_file.h"

namespace fovea::runtime {

/// The pairs of a file as tokens. UserError where none has words on both sides.
Corpus read_corpus(const std::string& path, std::size_t limit, const Tokenizer& source,
                   const Tokenizer& target);

/// Where the tokens of a training come from.
struct TokenSource {
    std::int64_t min_freq = 2;  // words that occur that often
    std::string pieces = {};    // or the pieces of this file (see read_piece_file); empty: words
};

/// Sentence pairs as a translator reads them.
class PairData final : public TrainingData {
  public:
    struct Words {
        TokenKind kind = TokenKind::words;
        Vocabulary source = {}, target = {};
        std::int64_t min_freq = 2;
    };

    /// `group`: batches that share out examples by length.
    PairData(Words words, Examples pairs, std::int64_t group = 1)
        : words_(std::move(words)), pairs_(std::move(pairs)), group_(group) {}

    const Words& words() const { return words_; }
    const Examples& pairs() const { return pairs_; }

    std::size_t count() const override { return pairs_.count; }
    std::int64_t tokens(std::uint32_t pair) const override { return pairs_.target_lengths[pair]; }
    const char* examples() const override { return "pairs"; }
    std::uint64_t fingerprint() const override { return pairs_.fingerprint(); }
    std::vector<DataOption> options() const override;
    /// Steps that are padding in the whole batch are left out (unless sources keep them): they
    /// change no value at a valid position. A model that takes no `tgt_lens` sums its loss over the
    /// targets that are not padding.
    LoadedBatch load(Instance& instance, std::span<const std::uint32_t> batch,
                     std::span<const std::uint32_t> step) const override;
    void arrange(std::span<std::uint32_t> order, std::size_t batch, std::uint64_t seed,
                 std::uint64_t epoch) const override;
    const char* measuring_program() const override { return "evaluate"; }
    std::span<const char* const> open_settings() const override { return kVocabularySizes; }
    Metadata metadata() const override;
    void verify_kind(const SafetensorsFile& checkpoint) const override;
    void verify_tokens(const SafetensorsFile& checkpoint) const override;

  private:
    Words words_;
    Examples pairs_;
    std::int64_t group_;
};

/// How a training cuts its pairs.
struct PairOptions {
    std::size_t limit = 0;  // pairs that are read; 0: all
    TokenSource tokens = {};
    std::size_t steps = 10;  // that pairs are cut or padded to
    std::int64_t group = 1;
    bool whole_sources = false;  // the model reads their padding
};

/// Reads pairs, counts their words or reads the pieces, and numbers the pairs. UserError where no
/// pair or no word is left.
PairData read_pair_data(const std::string& path, const PairOptions& options);

}  // namespace fovea::runtime
