// Tokens to numbers, decoding, and back.
#include "sentence_translator.h"

#include <algorithm>
#include <bit>
#include <map>

#include "reads_padding.h"

namespace fovea::runtime {

SentenceTranslator::SentenceTranslator(const std::string& weights, const Model& model,
                                       const BeamSettings& settings)
    : model_(model),
      trained_(load_trained_model(weights, model)),
      source_tokenizer_(trained_.header.tokens, trained_.header.source,
                        "'" + weights + "', source"),
      target_tokenizer_(trained_.header.tokens, trained_.header.target,
                        "'" + weights + "', target"),
      decoding_(model, *trained_.parameters, trained_.dims),
      settings_(settings) {
    constexpr std::int64_t kStepsOfTheBook = 10;  // of files that do not say
    if (settings_.steps > 0) return;
    const auto trained = static_cast<std::int64_t>(trained_.header.steps);
    settings_.steps = trained > 0 ? trained : kStepsOfTheBook;
}

std::size_t SentenceTranslator::source_steps(std::size_t tokens) const {
    const auto trained = static_cast<std::size_t>(trained_.header.steps);
    return reads_padding(model_) ? std::max(tokens, trained) : tokens;
}

std::size_t SentenceTranslator::tokens_read(const Words& sentence) const {
    const std::size_t whole = sentence.size() + 1;
    return most_tokens_ > 0 ? std::min(whole, most_tokens_) : whole;
}

std::vector<std::vector<Translation>> SentenceTranslator::translate(
    std::span<const Words> sentences) {
    std::vector<std::vector<Translation>> translations(sentences.size(), {Translation{}});
    // Of sentences with words; apart where padding is read and they are padded differently, and
    // long ones by their size, so that a single one does not lengthen all.
    constexpr std::size_t kShort = 128;
    std::map<std::size_t, std::vector<std::size_t>> groups;
    for (std::size_t i = 0; i < sentences.size(); ++i) {
        if (sentences[i].empty()) continue;
        const std::size_t tokens = tokens_read(sentences[i]);
        groups[reads_padding(model_) ? source_steps(tokens) : std::bit_width(tokens / kShort)]
            .push_back(i);
    }
    for (const auto& [steps, places] : groups) translate_group(sentences, places, translations);
    return translations;
}

void SentenceTranslator::translate_group(std::span<const Words> sentences,
                                         std::span<const std::size_t> places,
                                         std::vector<std::vector<Translation>>& translations) {
    std::size_t steps = 0;
    for (const std::size_t place : places)
        steps = std::max(steps, source_steps(tokens_read(sentences[place])));
    std::vector<std::int32_t> sources, lengths;  // [sentences, steps], [sentences]
    for (const std::size_t place : places) {
        std::vector<std::int32_t> ids = trained_.header.source.ids(sentences[place]);
        ids.push_back(kEnd);
        ids.resize(tokens_read(sentences[place]));
        lengths.push_back(static_cast<std::int32_t>(ids.size()));
        ids.resize(steps, kPad);
        sources.insert(sources.end(), ids.begin(), ids.end());
    }
    const auto found = beam_search(decoding_, sources, lengths, settings_);
    for (std::size_t i = 0; i < places.size(); ++i) {
        translations[places[i]].clear();
        for (const Hypothesis& hypothesis : found[i])
            translations[places[i]].push_back(
                {trained_.header.target.words(hypothesis.tokens), hypothesis.score});
    }
}

/// With `<eos>`, and not because there were no steps left.
bool SentenceTranslator::has_ended(const Translation& translation) const {
    return translation.words.size() < static_cast<std::size_t>(settings_.steps);
}

std::vector<AttentionMap> SentenceTranslator::attention(const Words& sentence,
                                                        const Translation& translation) {
    std::vector<std::int32_t> source = trained_.header.source.ids(sentence);
    source.push_back(kEnd);
    std::vector<std::int32_t> target = trained_.header.target.ids(translation.words);
    if (has_ended(translation)) target.push_back(kEnd);
    return attention_maps(model_, *trained_.parameters, trained_.dims, source,
                          source_steps(source.size()), target);
}

MapTokens SentenceTranslator::map_tokens(const Words& sentence,
                                         const Translation& translation) const {
    const Vocabulary& target = trained_.header.target;
    MapTokens tokens{sentence, {target.word(kBegin)}, translation.words};
    tokens.source.push_back(target.word(kEnd));
    if (has_ended(translation)) tokens.produced.push_back(target.word(kEnd));
    tokens.read.insert(tokens.read.end(), tokens.produced.begin(), tokens.produced.end() - 1);
    return tokens;
}

}  // namespace fovea::runtime
