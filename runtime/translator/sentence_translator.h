// Trained weights applied to sentences: words in, words out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "decoding.h"
#include "weights_file.h"

namespace fovea::runtime {

/// Greedy translation of one sentence at a time, so none depends on its neighbours.
class SentenceTranslator {
  public:
    /// Loads a weights file (see load_trained_model). A translation has at most `steps` words.
    SentenceTranslator(const std::string& weights, const Model& model, std::int64_t steps);

    /// The translation of a preprocessed sentence, whole whatever its length; nothing of nothing.
    std::vector<std::string> translate(const std::vector<std::string>& words);

    const WeightsHeader& header() const { return trained_.header; }
    Parameters& parameters() { return *trained_.parameters; }

  private:
    TrainedModel trained_;
    Decoding decoding_;
    std::int64_t steps_;
};

}  // namespace fovea::runtime
