#include "choose_token.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "../error.h"
#include "../training/random_stream.h"

namespace fovea::runtime {

namespace {

constexpr std::uint32_t kStream = 0x746f6b65;  // of draws of tokens

std::int32_t likeliest(std::span<const float> logits) {
    return static_cast<std::int32_t>(std::ranges::max_element(logits) - logits.begin());
}

/// Tokens from the likeliest on, equal ones in their order, as many as may be drawn.
std::vector<std::int32_t> candidates(std::span<const float> logits, std::int64_t top_k) {
    std::vector<std::int32_t> tokens(logits.size());
    std::iota(tokens.begin(), tokens.end(), 0);
    const auto is_likelier = [&](std::int32_t a, std::int32_t b) {
        const float x = logits[static_cast<std::size_t>(a)];
        const float y = logits[static_cast<std::size_t>(b)];
        return x > y || (x == y && a < b);
    };
    const auto all = static_cast<std::int64_t>(tokens.size());
    const std::int64_t kept = top_k > 0 ? std::min(top_k, all) : all;
    std::partial_sort(tokens.begin(), tokens.begin() + kept, tokens.end(), is_likelier);
    tokens.resize(static_cast<std::size_t>(kept));
    return tokens;
}

}  // namespace

void verify_logits(std::span<const float> logits, std::uint64_t index) {
    if (!std::ranges::all_of(logits, [](float x) { return std::isfinite(x); }))
        throw UserError("the logits of token {} are not finite: a weight is not, or is very large",
                        {index});
}

std::int32_t choose_token(std::span<const float> logits, const Sampling& sampling,
                          std::uint64_t index) {
    if (logits.empty()) throw InternalError("there are no logits to choose from");
    verify_logits(logits, index);
    if (sampling.temperature <= 0) return likeliest(logits);
    const std::vector<std::int32_t> tokens = candidates(logits, sampling.top_k);
    std::vector<double> sums;  // of the weights up to each
    const double largest = logits[static_cast<std::size_t>(tokens.front())];
    double sum = 0;
    for (std::int32_t token : tokens) {
        const double logit = logits[static_cast<std::size_t>(token)];
        sums.push_back(sum += std::exp((logit - largest) / sampling.temperature));
    }
    // The first token is always kept.
    std::size_t kept = 1;
    while (kept < sums.size() && sums[kept - 1] < sampling.top_p * sum) ++kept;
    constexpr std::uint64_t kUnits = std::uint64_t{1} << 53;
    const std::uint64_t units = RandomStream(sampling.seed, kStream).below(index, kUnits);
    const double drawn = static_cast<double>(units) / kUnits * sums[kept - 1];
    const auto end = sums.begin() + static_cast<std::ptrdiff_t>(kept);
    const auto found = std::upper_bound(sums.begin(), end - 1, drawn);
    return tokens[static_cast<std::size_t>(found - sums.begin())];
}

}  // namespace fovea::runtime
