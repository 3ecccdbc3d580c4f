// Which examples a training reads, and in which order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace fovea::runtime {

/// Which examples a training reads, and which only measure it.
struct Split {
    std::vector<std::uint32_t> training, validation;
};

/// Holds out `share` of the examples, at least one where it is above 0: drawn by the seed, in the
/// order of the data. UserError, which calls them `examples`, where none is left to train on.
Split split_examples(std::size_t count, double share, std::uint64_t seed,
                     std::string_view examples = "examples");

/// The numbers 0 … count-1 in the order of an epoch: shuffled by (seed, epoch) alone.
std::vector<std::uint32_t> epoch_order(std::size_t count, std::uint64_t seed, std::uint64_t epoch);

}  // namespace fovea::runtime
