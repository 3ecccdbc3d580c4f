// Shuffles that can be replayed.
#include "epoch_order.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "../error.h"
#include "../training/random_stream.h"

namespace fovea::runtime {

namespace {

// Parameters start from the streams below; this many are never reached.
constexpr std::uint32_t kFirstStream = 0x80000000;
constexpr std::uint32_t kSplitStream = 0xFFFFFFFF;

/// Fisher and Yates.
std::vector<std::uint32_t> shuffled(std::size_t count, const RandomStream& stream) {
    std::vector<std::uint32_t> order(count);
    std::iota(order.begin(), order.end(), std::uint32_t{0});
    for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[stream.below(i - 2, i)]);
    return order;
}

}  // namespace

Split split_examples(std::size_t count, double share, std::uint64_t seed,
                     std::string_view examples) {
    Split split;
    const auto wanted = static_cast<std::size_t>(std::llround(share * static_cast<double>(count)));
    const std::size_t held = share > 0 ? std::max<std::size_t>(wanted, 1) : 0;
    if (held >= count && count > 0) {
        throw UserError("--validation holds out all {} {}; none is left to train on",
                        {count, examples});
    }
    const std::vector<std::uint32_t> order = shuffled(count, RandomStream(seed, kSplitStream));
    split.validation.assign(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(held));
    split.training.assign(order.begin() + static_cast<std::ptrdiff_t>(held), order.end());
    std::sort(split.validation.begin(), split.validation.end());
    std::sort(split.training.begin(), split.training.end());
    return split;
}

std::vector<std::uint32_t> epoch_order(std::size_t count, std::uint64_t seed, std::uint64_t epoch) {
    return shuffled(count, RandomStream(seed, kFirstStream + static_cast<std::uint32_t>(epoch)));
}

}  // namespace fovea::runtime
