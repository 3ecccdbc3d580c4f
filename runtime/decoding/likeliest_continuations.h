// The likeliest texts that are hypotheses and one token more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fovea::runtime {

struct Continuation {
    double log_probability = 0;  // of the whole text, in nats
    std::int32_t parent = 0, token = 0;
};

/// What is added to logits to have logarithms of probabilities: finite unless one of them is not a
/// number, one is infinite, or all are -infinity.
double log_normalizer(std::span<const float> logits);

/// The `count` likeliest continuations of hypotheses with these log probabilities, or all where
/// there are fewer: the likeliest first, equal ones in the order of their parents, then of their
/// tokens. `logits` are [hypotheses, words], `normalizers` those of each row.
std::vector<Continuation> likeliest_continuations(std::span<const float> logits,
                                                  std::span<const double> normalizers,
                                                  std::span<const double> log_probabilities,
                                                  std::size_t count);

}  // namespace fovea::runtime
