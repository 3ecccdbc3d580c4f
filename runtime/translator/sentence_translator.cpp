// Words to numbers, decoding, and back.
#include "sentence_translator.h"

namespace fovea::runtime {

SentenceTranslator::SentenceTranslator(const std::string& weights, const Model& model,
                                       std::int64_t steps)
    : trained_(load_trained_model(weights, model)),
      decoding_(model, *trained_.parameters, trained_.dims),
      steps_(steps) {}

std::vector<std::string> SentenceTranslator::translate(const std::vector<std::string>& words) {
    if (words.empty()) return {};
    std::vector<std::int32_t> source = trained_.header.source.ids(words);
    source.push_back(kEnd);
    return trained_.header.target.words(decoding_.translate(source, steps_));
}

}  // namespace fovea::runtime
