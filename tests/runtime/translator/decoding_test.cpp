// Decoding step by step, with caches, against the full forward pass, for batches of several sizes.
#include "../../../runtime/translator/decoding.h"

#include <algorithm>

#include <doctest/doctest.h>

#include "fake_model.h"

using namespace fovea::runtime;

TEST_CASE("decoding with a cache gives the logits of the full forward pass") {
    const Model model = fake::make_model();
    const DimValues words = {{"src_vocab", 9}, {"tgt_vocab", 7}};
    Parameters parameters(model, words);
    parameters.initialize(3);
    Decoding decoding(model, parameters, words);
    Instance evaluate(model, "evaluate", parameters);
    for (const std::int64_t sentences : {3, 1, 4}) {
        constexpr std::int64_t kSource = 5, kSteps = 6, kWords = 7;
        std::vector<std::int32_t> sources, lengths, targets;
        for (std::int32_t b = 0; b < sentences; ++b) {
            lengths.push_back(1 + b % 5);
            for (std::int32_t i = 0; i < kSource; ++i) sources.push_back((b * 5 + i * 3) % 9);
            for (std::int32_t i = 0; i < kSteps; ++i) targets.push_back((b + i * i + 1) % 7);
        }
        evaluate.bind({{"batch", sentences}, {"src_len", kSource}, {"tgt_len", kSteps}});
        std::copy(sources.begin(), sources.end(), evaluate.input<std::int32_t>("src"));
        std::copy(lengths.begin(), lengths.end(), evaluate.input<std::int32_t>("src_lens"));
        std::copy(targets.begin(), targets.end(), evaluate.input<std::int32_t>("tgt"));
        std::fill_n(evaluate.input<std::int32_t>("labels"), sentences * kSteps, 0);
        std::fill_n(evaluate.input<std::int32_t>("tgt_lens"), sentences, kSteps);
        evaluate.run();

        for (std::int64_t step = 0; step < kSteps; ++step) {
            std::vector<std::int32_t> tokens;
            for (std::int64_t b = 0; b < sentences; ++b) {
                tokens.push_back(targets[static_cast<std::size_t>(b * kSteps + step)]);
            }
            const auto logits = step ? decoding.step(tokens, step)
                                     : decoding.begin(sources, lengths, tokens, kSteps);
            REQUIRE(logits.size() == static_cast<std::size_t>(sentences * kWords));
            for (std::int64_t b = 0; b < sentences; ++b) {
                const float* full = evaluate.output<float>("logits") + (b * kSteps + step) * kWords;
                for (std::int64_t w = 0; w < kWords; ++w) {
                    CHECK(logits[static_cast<std::size_t>(b * kWords + w)] ==
                          doctest::Approx(full[w]));
                }
            }
        }
    }
}
