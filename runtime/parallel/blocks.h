// How flat arrays are cut for threads: into blocks whose places do not depend on their number, so
// that sums and vector tails have the same bits whoever computes them.
#pragma once

#include <algorithm>
#include <cstddef>

#include "team.h"

namespace fovea::runtime {

inline constexpr std::size_t kBlock = 4096;

constexpr std::size_t block_count(std::size_t size) { return (size + kBlock - 1) / kBlock; }

/// Calls work(block, start, end) for this part's contiguous blocks of `size` elements.
template <class Work>
void for_each_block(std::size_t size, Part part, const Work& work) {
    const std::size_t blocks = block_count(size);
    const auto index = static_cast<std::size_t>(part.index);
    const auto count = static_cast<std::size_t>(part.count);
    for (std::size_t block = blocks * index / count; block < blocks * (index + 1) / count; ++block)
        work(block, block * kBlock, std::min((block + 1) * kBlock, size));
}

}  // namespace fovea::runtime
