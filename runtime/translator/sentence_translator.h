// Trained weights applied to sentences: words in, words out.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "beam_search.h"
#include "weights_file.h"

namespace fovea::runtime {

using Words = std::vector<std::string>;

struct Translation {
    Words words;
    double score = 0;  // see Hypothesis
};

/// Translates sentences, none of which depends on its neighbours.
class SentenceTranslator {
  public:
    /// Loads a weights file (see load_trained_model).
    SentenceTranslator(const std::string& weights, const Model& model,
                       const BeamSettings& settings);

    /// The best translations of each preprocessed sentence, whole whatever its length; of nothing
    /// one of no words. The sentences are decoded side by side.
    std::vector<std::vector<Translation>> translate(std::span<const Words> sentences);

    const WeightsHeader& header() const { return trained_.header; }
    Parameters& parameters() { return *trained_.parameters; }

  private:
    TrainedModel trained_;
    Decoding decoding_;
    BeamSettings settings_;
};

}  // namespace fovea::runtime
