// Where the tensors of a program's shards lie, for one binding to dims.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "../parallel/shards.h"
#include "../program.h"
#include "arena.h"

namespace fovea::runtime {

/// Holds what `shards` points to.
struct ShardLayout {
    Shards shards;
    std::vector<ShardTensor> tensors;
    std::vector<ShardSum> sums;
    std::vector<void*> addresses;
    std::vector<std::int64_t> dims;
};

/// How many shards a run with these dims has: those of the program, or as many as there are
/// sequences. 1 where there are none, or where the sums over the batch are too large.
int shard_count(const Program& program, std::span<const std::int64_t> dims);

/// The dims of the largest of `count` shards.
std::vector<std::int64_t> dims_of_shard(const Program& program, std::span<const std::int64_t> dims,
                                        int count);

/// Bytes of the sums of `count` shards, and of the tree that adds them.
std::size_t bytes_of_sums(const Program& program, std::span<const std::int64_t> dims, int count);

/// From a place's memory to the next one's, in bytes.
struct PlaceSizes {
    std::size_t workspace = 0, prepared = 0;
};

/// `parameters` of them stand before the program's inputs, outputs and buffers. The sums of shards
/// go to `sums`, which grows as it must.
std::shared_ptr<const ShardLayout> lay_out_shards(const Program& program,
                                                  std::span<const std::int64_t> dims, int count,
                                                  std::size_t parameters, PlaceSizes places,
                                                  Arena& sums);

/// What programs link that run their batch in shards.
struct ShardedRuns {
    decltype(shard_count)* count;
    decltype(dims_of_shard)* dims;
    decltype(bytes_of_sums)* sum_bytes;
    decltype(lay_out_shards)* lay_out;
};

}  // namespace fovea::runtime
