// Words to numbers, decoding, and back.
#include "sentence_translator.h"

#include <algorithm>

namespace fovea::runtime {

SentenceTranslator::SentenceTranslator(const std::string& weights, const Model& model,
                                       const BeamSettings& settings)
    : trained_(load_trained_model(weights, model)),
      decoding_(model, *trained_.parameters, trained_.dims),
      settings_(settings) {}

std::vector<std::vector<Translation>> SentenceTranslator::translate(
    std::span<const Words> sentences) {
    std::vector<std::vector<Translation>> translations(sentences.size(), {Translation{}});
    std::vector<std::size_t> places;  // of sentences with words
    std::size_t longest = 0;
    for (std::size_t i = 0; i < sentences.size(); ++i) {
        if (sentences[i].empty()) continue;
        places.push_back(i);
        longest = std::max(longest, sentences[i].size() + 1);
    }
    if (places.empty()) return translations;
    std::vector<std::int32_t> sources, lengths;  // [sentences, longest], [sentences]
    for (const std::size_t place : places) {
        std::vector<std::int32_t> ids = trained_.header.source.ids(sentences[place]);
        ids.push_back(kEnd);
        lengths.push_back(static_cast<std::int32_t>(ids.size()));
        ids.resize(longest, kPad);
        sources.insert(sources.end(), ids.begin(), ids.end());
    }
    const auto found = beam_search(decoding_, sources, lengths, settings_);
    for (std::size_t i = 0; i < places.size(); ++i) {
        translations[places[i]].clear();
        for (const Hypothesis& hypothesis : found[i])
            translations[places[i]].push_back(
                {trained_.header.target.words(hypothesis.tokens), hypothesis.score});
    }
    return translations;
}

}  // namespace fovea::runtime
