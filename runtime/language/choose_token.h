// Which token comes next, from its logits.
#pragma once

#include <cstdint>
#include <span>

namespace fovea::runtime {

/// How tokens are drawn, as the options of transformers' `generate` have it: first the temperature,
/// then the `top_k` likeliest tokens (0: all), then of these the fewest likeliest whose
/// probabilities are `top_p` together (Holtzman et al. 2020, section 3.1).
struct Sampling {
    double temperature = 0;  // 0: the likeliest token, the first of equal ones
    std::int64_t top_k = 0;
    double top_p = 1;
    std::uint64_t seed = 0;
};

/// UserError where the logits of the token at place `index` are not finite.
void verify_logits(std::span<const float> logits, std::uint64_t index);

/// The token at place `index` of a text: the same for the same logits, options and place.
/// InternalError without logits; UserError where they are not finite.
std::int32_t choose_token(std::span<const float> logits, const Sampling& sampling,
                          std::uint64_t index);

}  // namespace fovea::runtime
