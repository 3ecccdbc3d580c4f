// A batch in shards: each thread takes its own sequences through all kernels of a program, and
// what is summed over the batch, as gradients are, is a sum over shards in a fixed binary tree. The
// shards are a property of the program and of the batch, so bits do not depend on the threads.
#pragma once

#include "../call.h"
#include "team.h"

namespace fovea::runtime {

/// Where a tensor of a shard lies: from `at` (null: where the call has it) so many bytes on for
/// each sequence before the shard, for each shard before it, and for each place before its own.
struct ShardTensor {
    void* at = nullptr;
    std::int64_t by_sequence = 0, by_shard = 0, by_place = 0;
};

/// An output that is a sum over the batch: `tensor` of the call; of each shard, `size` floats from
/// `offset` on.
struct ShardSum {
    int tensor = 0;
    std::int64_t offset = 0, size = 0;
};

/// The shards of a call. A thread uses the workspace of one place, that of its first shard.
struct Shards {
    int count = 1;  // at most kMostShards
    int dim = 0;  // of the call's dims: the number of sequences
    int dims = 0, tensors = 0, sums = 0;
    const ShardTensor* tensor = nullptr;
    const ShardSum* sum = nullptr;
    std::int64_t floats = 0;  // of the sums of a shard, whole lines of memory
    float* sums_of_shards = nullptr;  // [count, floats]
    float* sums_of_trees = nullptr;  // [count, floats]: of the tree that begins at a shard
    // Written by the thread of a place: the dims and the addresses of its shard.
    std::int64_t* dims_of_places = nullptr;
    void** addresses_of_places = nullptr;
};
inline constexpr int kMostShards = 16;

/// The call of one shard, until the next call at this place.
Call call_of_shard(const Call& call, int shard, int place);
/// The same to prepare at a place: as many sequences as the largest shard has.
Call call_of_place(const Call& call, int place);

/// The first shard of a part; its last one is before the first of the next part. Part 0 has one.
constexpr int first_shard(const Shards& shards, int part, int parts) {
    return (shards.count * part + parts - 1) / parts;
}

/// The sums over all shards are a binary tree: ((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7)) for eight.
/// Of n, the first 2^k < n are a tree of their own, and so are the rest. First each thread adds the
/// trees that its own shards are, then, behind a barrier, the threads share what is left.
void add_own_shards(const Call& call, Part part);
void add_shards(const Call& call, Part part);

}  // namespace fovea::runtime
