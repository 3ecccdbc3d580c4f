#include "choose_token.h"

#include "../decoding/token_weights.h"
#include "../error.h"
#include "../training/random_stream.h"

namespace fovea::runtime {

namespace {

constexpr std::uint32_t kStream = 0x746f6b65;  // of draws of tokens

/// A number from 0 to 1, the same for the same place and seed.
double drawn_number(std::uint64_t seed, std::uint64_t index) {
    constexpr std::uint64_t kUnits = std::uint64_t{1} << 53;
    return static_cast<double>(RandomStream(seed, kStream).below(index, kUnits)) / kUnits;
}

}  // namespace

void verify_logits(std::span<const float> logits, std::uint64_t index) {
    if (!are_finite(logits))
        throw UserError("the logits of token {} are not finite: a weight is not, or is very large",
                        {index});
}

std::int32_t choose_token(std::span<const float> logits, const Sampling& sampling,
                          std::uint64_t index) {
    if (logits.empty()) throw InternalError("there are no logits to choose from");
    verify_logits(logits, index);
    if (sampling.temperature <= 0) return likeliest_token(logits);
    TokenWeights weights(logits, sampling.temperature);
    if (sampling.top_k > 0) weights.keep_likeliest(static_cast<std::size_t>(sampling.top_k));
    const double kept =
        sampling.top_p < 1 ? weights.sum_from(sampling.top_p * weights.sum()) : weights.sum();
    return weights.token_at(drawn_number(sampling.seed, index) * kept);
}

}  // namespace fovea::runtime
