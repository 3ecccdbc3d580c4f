// The data of a training or an evaluation: words counted or pieces read, pairs numbered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "../../text/batches.h"

namespace fovea::runtime {

/// Pairs as a training reads them, and the vocabularies of their tokens.
struct TrainingData {
    TokenKind tokens = TokenKind::words;
    Vocabulary source, target;
    Examples examples;
};

/// The pairs of a file as tokens. UserError where none has words on both sides.
Corpus read_corpus(const std::string& path, std::size_t limit, const Tokenizer& source,
                   const Tokenizer& target);

/// Where the tokens of a training come from.
struct TokenSource {
    std::int64_t min_freq = 2;  // words that occur that often
    std::string pieces = {};    // or the pieces of this file (see read_piece_file); empty: words
};

/// Reads at most `limit` pairs (0: all), counts their words or reads the pieces, and numbers the
/// pairs, cut or padded to `steps`. UserError where no pair or no word is left.
TrainingData read_training_data(const std::string& path, std::size_t limit,
                                const TokenSource& tokens, std::size_t steps);

}  // namespace fovea::runtime
