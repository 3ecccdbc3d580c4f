// Trained weights applied to sentences: tokens in, tokens out.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "attention_maps.h"
#include "attention_svg.h"
#include "beam_search.h"
#include "weights_file.h"

namespace fovea::runtime {

using Words = std::vector<std::string>;

struct Translation {
    Words words;  // tokens of the target's vocabulary
    double score = 0;  // see Hypothesis
};

/// Translates sentences, none of which depends on its neighbours.
class SentenceTranslator {
  public:
    /// Loads a weights file (see load_trained_model). Steps that `settings` do not tell are those
    /// of the training.
    SentenceTranslator(const std::string& weights, const Model& model,
                       const BeamSettings& settings);

    /// How sentences become tokens, and translations a text.
    const Tokenizer& source_tokenizer() const { return source_tokenizer_; }
    const Tokenizer& target_tokenizer() const { return target_tokenizer_; }

    /// The best translations of each sentence in tokens, whole whatever its length; of nothing
    /// one of no words. The sentences are decoded side by side.
    std::vector<std::vector<Translation>> translate(std::span<const Words> sentences);
    /// Cuts what `translate` reads to this many tokens, `<eos>` among them, as a training does.
    void cut_sources(std::size_t tokens) { most_tokens_ = tokens; }
    /// The settings in force.
    const BeamSettings& settings() const { return settings_; }

    /// The attention of every module over a sentence with words and its translation.
    std::vector<AttentionMap> attention(const Words& sentence, const Translation& translation);
    /// The tokens along the axes of those maps; a word of the source that is unknown as it is.
    MapTokens map_tokens(const Words& sentence, const Translation& translation) const;

    const Model& model() const { return model_; }
    const WeightsHeader& header() const { return trained_.header; }
    Parameters& parameters() { return *trained_.parameters; }

  private:
    /// The tokens of a sentence that are read, with `<eos>`.
    std::size_t tokens_read(const Words& sentence) const;
    /// The steps that a source of some tokens is padded to at least.
    std::size_t source_steps(std::size_t tokens) const;
    void translate_group(std::span<const Words> sentences, std::span<const std::size_t> places,
                         std::vector<std::vector<Translation>>& translations);
    bool has_ended(const Translation& translation) const;

    const Model& model_;
    TrainedModel trained_;
    Tokenizer source_tokenizer_, target_tokenizer_;
    Decoding decoding_;
    BeamSettings settings_;
    std::size_t most_tokens_ = 0;  // 0: any number
};

}  // namespace fovea::runtime
