// The data of a training or an evaluation: words counted, pairs numbered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "../text/batches.h"

namespace fovea::runtime {

/// Pairs as a training reads them, and the vocabularies counted from them.
struct TrainingData {
    Vocabulary source, target;
    Examples examples;
};

/// The pairs of a file as words. UserError where none has words on both sides.
Corpus read_corpus(const std::string& path, std::size_t limit);

/// Reads at most `limit` pairs (0: all), counts words that occur `min_freq` times, and numbers the
/// pairs, cut or padded to `steps`. UserError where no pair or no word is left.
TrainingData read_training_data(const std::string& path, std::size_t limit, std::int64_t min_freq,
                                std::size_t steps);

}  // namespace fovea::runtime
