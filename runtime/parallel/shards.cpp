// Addresses of shards, and sums over them.
#include "shards.h"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "stream.h"

namespace fovea::runtime {
namespace {

/// The shards of a tree, or of a thread.
struct Run {
    int begin = 0, end = 0;
    int count() const { return end - begin; }
    bool holds(Run other) const { return begin <= other.begin && other.end <= end; }
    Run left() const {
        return {begin, begin + int(std::bit_floor(static_cast<unsigned>(count() - 1)))};
    }
    Run right() const { return {left().end, end}; }
};

Run run_of(const Shards& shards, Part part) {
    return {first_shard(shards, part.index, part.count),
            first_shard(shards, part.index + 1, part.count)};
}

constexpr std::int64_t kChunk = 1024;  // floats that stay in the first cache

/// Whether one of so many parts has added this tree.
bool is_added(const Shards& shards, int parts, Run tree) {
    for (int part = 0; part < parts; ++part)
        if (run_of(shards, {part, parts}).holds(tree)) return true;
    return false;
}

/// Of four shards, `stride` floats apart.
void add_four(float* __restrict to, const float* __restrict from, std::int64_t stride,
              std::int64_t size) {
    for (std::int64_t i = 0; i < size; ++i)
        to[i] = (from[i] + from[stride + i]) + (from[2 * stride + i] + from[3 * stride + i]);
}

/// The sums of a tree, of `size` floats from `begin` on: where they lie, or `to`, where they are
/// put. So many parts have added their own trees.
const float* sums_of(const Shards& shards, int parts, Run tree, std::int64_t begin,
                     std::int64_t size, float* to) {
    const std::int64_t at = tree.begin * shards.floats + begin;
    if (tree.count() == 1) return shards.sums_of_shards + at;
    if (is_added(shards, parts, tree)) return shards.sums_of_trees + at;
    if (tree.count() == 4 && parts == 0) {
        add_four(to, shards.sums_of_shards + at, shards.floats, size);
        return to;
    }
    float of_right[kChunk];
    const float* const left = sums_of(shards, parts, tree.left(), begin, size, to);
    const float* const right = sums_of(shards, parts, tree.right(), begin, size, of_right);
    for (std::int64_t i = 0; i < size; ++i) to[i] = left[i] + right[i];
    return to;
}

/// Calls work(begin, end) for the chunks of a range.
template <class Work>
void for_each_chunk(std::int64_t begin, std::int64_t end, const Work& work) {
    for (; begin < end; begin += kChunk) work(begin, std::min(begin + kChunk, end));
}

/// Adds the largest trees among a thread's shards, for others to read.
void add_trees(const Shards& shards, Run tree, Run own) {
    if (tree.end <= own.begin || own.end <= tree.begin || tree.count() < 2) return;
    if (!own.holds(tree)) {
        add_trees(shards, tree.left(), own);
        return add_trees(shards, tree.right(), own);
    }
    float* const to = shards.sums_of_trees + tree.begin * shards.floats;
    for_each_chunk(0, shards.floats, [&](std::int64_t begin, std::int64_t end) {
        float chunk[kChunk];
        stream(to + begin, sums_of(shards, 0, tree, begin, end - begin, chunk),
               static_cast<std::size_t>(end - begin));
    });
}

/// Calls work(sum, begin, end) for this part's floats of each sum. Threads share those of all sums,
/// in lines of memory.
template <class Work>
void for_each_sum(const Shards& shards, Part part, const Work& work) {
    constexpr std::int64_t kLine = 16;
    const std::int64_t lines = shards.floats / kLine;
    const std::int64_t first = lines * part.index / part.count * kLine;
    const std::int64_t last = lines * (part.index + 1) / part.count * kLine;
    for (int i = 0; i < shards.sums; ++i) {
        const ShardSum& sum = shards.sum[i];
        const std::int64_t begin = std::max(first - sum.offset, std::int64_t{0});
        const std::int64_t end = std::min(last - sum.offset, sum.size);
        if (begin < end) work(sum, begin, end);
    }
}

}  // namespace

Call call_of_shard(const Call& call, int shard, int place) {
    const Shards& shards = *call.shards;
    const std::int64_t sequences = call.dims[shards.dim];
    const std::int64_t first = sequences * shard / shards.count;
    std::int64_t* const dims = shards.dims_of_places + std::int64_t(place) * shards.dims;
    void** const tensors = shards.addresses_of_places + std::int64_t(place) * shards.tensors;
    std::copy_n(call.dims, shards.dims, dims);
    dims[shards.dim] = sequences * (shard + 1) / shards.count - first;
    for (int i = 0; i < shards.tensors; ++i) {
        const ShardTensor& tensor = shards.tensor[i];
        auto* const at = static_cast<std::byte*>(tensor.at ? tensor.at : call.tensors[i]);
        tensors[i] =
            at + first * tensor.by_sequence + shard * tensor.by_shard + place * tensor.by_place;
    }
    Call own = call;
    own.dims = dims;
    own.tensors = tensors;
    own.first = first;
    own.shards = nullptr;
    return own;
}

Call call_of_place(const Call& call, int place) {
    const Shards& shards = *call.shards;
    const Call own = call_of_shard(call, place, place);
    shards.dims_of_places[std::int64_t{place} * shards.dims + shards.dim] =
        (call.dims[shards.dim] + shards.count - 1) / shards.count;
    return own;
}

void add_own_shards(const Call& call, Part part) {
    const Shards& shards = *call.shards;
    if (part.count == 1) return;
    add_trees(shards, {0, shards.count}, run_of(shards, part));
    finish_streams();
}

void add_shards(const Call& call, Part part) {
    const Shards& shards = *call.shards;
    const Run all = {0, shards.count};
    for_each_sum(shards, part, [&](const ShardSum& sum, std::int64_t first, std::int64_t last) {
        auto* const to = static_cast<float*>(call.tensors[sum.tensor]);
        for_each_chunk(first, last, [&](std::int64_t begin, std::int64_t end) {
            sums_of(shards, part.count > 1 ? part.count : 0, all, sum.offset + begin, end - begin,
                    to + begin);
        });
    });
}

}  // namespace fovea::runtime
