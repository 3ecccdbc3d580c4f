// Beam search against greedy decoding and against all sequences, on random models.
#include "../../../runtime/translator/beam_search.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "../../../runtime/text/vocabulary.h"
#include "fake_model.h"

using namespace fovea::runtime;

namespace {

constexpr std::int64_t kTargetWords = 6;

/// A model with random parameters, large enough for opinions, and three sentences.
struct SearchFixture {
    const Model model = fake::make_model();
    const DimValues words = {{"src_vocab", 9}, {"tgt_vocab", kTargetWords}};
    Parameters parameters{model, words};
    std::vector<std::int32_t> sources = {4, 5, 3, 1, 6, 7, 8, 3, 5, 3, 1, 1};  // [3, 4]
    std::vector<std::int32_t> lengths = {3, 4, 2};

    explicit SearchFixture(std::uint64_t seed) {
        parameters.initialize(seed);
        for (float& value : parameters.flat()) value *= 1.5F;
    }
    std::vector<std::vector<Hypothesis>> search(const BeamSettings& settings) {
        Decoding decoding(model, parameters, words);
        return beam_search(decoding, sources, lengths, settings);
    }
    std::vector<std::vector<Hypothesis>> search_alone(std::size_t sentence,
                                                      const BeamSettings& settings) {
        Decoding decoding(model, parameters, words);
        const auto length = static_cast<std::size_t>(lengths[sentence]);
        return beam_search(decoding, std::span(sources).subspan(4 * sentence, length),
                           std::span(lengths).subspan(sentence, 1), settings);
    }
    /// The logits that follow `tokens` of a sentence.
    std::vector<float> logits_after(std::size_t sentence, const std::vector<std::int32_t>& tokens) {
        Decoding decoding(model, parameters, words);
        const auto length = static_cast<std::size_t>(lengths[sentence]);
        std::span<const float> logits =
            decoding.begin(std::span(sources).subspan(4 * sentence, length),
                           std::span(lengths).subspan(sentence, 1), {&kBegin, 1}, 8);
        for (std::size_t i = 0; i < tokens.size(); ++i)
            logits = decoding.step({&tokens[i], 1}, std::int64_t(i + 1));
        return {logits.begin(), logits.end()};
    }
};

double log_probability(const std::vector<float>& logits, std::int32_t token) {
    double sum = 0;
    for (const float logit : logits) sum += std::exp(double(logit));
    return double(logits[std::size_t(token)]) - std::log(sum);
}

/// The best of all translations of at most `steps` tokens, by trying them.
Hypothesis best_of_all(SearchFixture& f, std::size_t sentence, std::size_t steps, double alpha) {
    Hypothesis best{{}, 0, -1e30};
    const auto offer = [&](const std::vector<std::int32_t>& tokens, double log,
                           std::size_t length) {
        const double score = log / std::pow((5 + double(length)) / 6, alpha);
        if (score > best.score) best = {tokens, log, score};
    };
    std::vector<std::pair<std::vector<std::int32_t>, double>> open = {{{}, 0}};
    while (!open.empty()) {
        const auto [tokens, log] = open.back();
        open.pop_back();
        const std::vector<float> logits = f.logits_after(sentence, tokens);
        for (std::int32_t token = 0; token < kTargetWords; ++token) {
            const double longer_log = log + log_probability(logits, token);
            std::vector<std::int32_t> longer = tokens;
            if (token != kEnd) longer.push_back(token);
            if (token == kEnd || longer.size() == steps)
                offer(longer, longer_log, tokens.size() + 1);
            else open.emplace_back(longer, longer_log);
        }
    }
    return best;
}

}  // namespace

TEST_CASE("beam_search: a beam of one is greedy") {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        SearchFixture f(seed);
        const auto found = f.search({.beam = 1, .steps = 6});
        for (std::size_t i = 0; i < 3; ++i) {
            std::vector<std::int32_t> tokens;
            while (tokens.size() < 6) {
                const auto logits = f.logits_after(i, tokens);
                const auto token =
                    std::int32_t(std::max_element(logits.begin(), logits.end()) - logits.begin());
                if (token == kEnd) break;
                tokens.push_back(token);
            }
            REQUIRE(found[i].size() == 1);
            CHECK(found[i][0].tokens == tokens);
        }
    }
}

TEST_CASE("beam_search: a beam that prunes nothing finds the best of all") {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        for (const double alpha : {0.0, 0.6, 2.0}) {
            SearchFixture f(seed);
            const auto found = f.search({.beam = 300, .steps = 3, .alpha = alpha});
            for (std::size_t i = 0; i < 3; ++i) {
                const Hypothesis best = best_of_all(f, i, 3, alpha);
                CHECK(found[i][0].tokens == best.tokens);
                CHECK(found[i][0].score == doctest::Approx(best.score));
                CHECK(found[i][0].log_probability == doctest::Approx(best.log_probability));
            }
        }
    }
}

TEST_CASE("beam_search: a sentence does not depend on its neighbours, nor on padding") {
    for (const std::int64_t beam : {1, 4}) {
        SearchFixture f(3);
        const BeamSettings settings{.beam = beam, .best = beam, .steps = 7};
        const auto found = f.search(settings);
        for (std::size_t i = 0; i < 3; ++i) {
            const auto alone = f.search_alone(i, settings)[0];
            REQUIRE(alone.size() == found[i].size());
            for (std::size_t n = 0; n < alone.size(); ++n) {
                CHECK(alone[n].tokens == found[i][n].tokens);
                CHECK(alone[n].score == found[i][n].score);
            }
        }
    }
}

TEST_CASE("beam_search: the best come first, and all differ") {
    SearchFixture f(2);
    for (const auto& found : f.search({.beam = 8, .best = 8, .steps = 5})) {
        REQUIRE(found.size() == 8);
        for (std::size_t n = 1; n < found.size(); ++n) {
            CHECK(found[n - 1].score >= found[n].score);
            for (std::size_t m = 0; m < n; ++m) CHECK(found[m].tokens != found[n].tokens);
        }
    }
}
