// Beam search: the best continuations of a sentence are followed side by side.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decoding.h"

namespace fovea::runtime {

struct BeamSettings {
    std::int64_t beam = 1;    // hypotheses that are followed; 1 is greedy
    std::int64_t best = 1;    // hypotheses that are given, at most `beam`
    std::int64_t steps = 10;  // tokens of the longest translation; 0: as many as in training
    double alpha = 0.6;       // of the length penalty; 0: none
};

/// A translation that ended with `<eos>`, or had as many tokens as there are steps.
struct Hypothesis {
    std::vector<std::int32_t> tokens;  // without `<eos>`
    double log_probability = 0;        // of the tokens and of `<eos>`, in nats
    double score = 0;  // log P(Y) / ((5 + |Y|) / 6)^alpha, `<eos>` counted in |Y|
};

/// The score of Wu et al. 2016 (7), of `length` tokens.
double hypothesis_score(double log_probability, std::size_t length, double alpha);

/// Translates sentences side by side; none depends on its neighbours. `sources` are
/// [sentences, length] with `<eos>`, padded; `lengths` say where each ends. Gives for each at most
/// `best` hypotheses, the best first; of equals the one that ended first. UserError where logits
/// are not finite.
std::vector<std::vector<Hypothesis>> beam_search(Decoding& decoding,
                                                 std::span<const std::int32_t> sources,
                                                 std::span<const std::int32_t> lengths,
                                                 const BeamSettings& settings);

}  // namespace fovea::runtime
