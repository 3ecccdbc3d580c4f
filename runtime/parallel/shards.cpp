// Addresses of shards, and sums over them.
#include "shards.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <utility>

#include "../error.h"
#include "../isa.h"
#include "stream.h"

namespace fovea::runtime {
namespace {

/// Element 0 of the tree over `Count` shards, `stride` floats apart.
template <int Count>
[[gnu::always_inline]] inline float tree(const float* at, std::int64_t stride) {
    if constexpr (Count == 1) {
        return *at;
    } else {
        constexpr int kLeft = int(std::bit_floor(unsigned(Count - 1)));
        return tree<kLeft>(at, stride) + tree<Count - kLeft>(at + kLeft * stride, stride);
    }
}

/// `to` is no part of what is added.
using AddTree = void(float* to, const float* from, std::int64_t stride, std::int64_t size);

template <int Count>
[[gnu::always_inline]] inline void add_tree(float* __restrict to, const float* __restrict from,
                                            std::int64_t stride, std::int64_t size) {
    for (std::int64_t i = 0; i < size; ++i) to[i] = tree<Count>(from + i, stride);
}

template <int Count>
void add_tree_anywhere(float* to, const float* from, std::int64_t stride, std::int64_t size) {
    add_tree<Count>(to, from, stride, size);
}

#if defined(__x86_64__)
template <int Count>
[[gnu::target("avx2")]] void add_tree_avx2(float* to, const float* from, std::int64_t stride,
                                           std::int64_t size) {
    add_tree<Count>(to, from, stride, size);
}
#endif

template <int... Less>
std::array<AddTree*, sizeof...(Less)> trees(std::integer_sequence<int, Less...>) {
#if defined(__x86_64__)
    if (machine_has("avx2")) return {add_tree_avx2<Less + 1>...};
#endif
    return {add_tree_anywhere<Less + 1>...};
}

AddTree& tree_of(int count) {
    static const auto all = trees(std::make_integer_sequence<int, kMostShards>());
    if (count < 1 || count > kMostShards) throw InternalError("{} shards", {count});
    return *all[static_cast<std::size_t>(count - 1)];
}

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
    AddTree& add = tree_of(tree.count());
    const float* const from = shards.sums_of_shards + tree.begin * shards.floats;
    float* const to = shards.sums_of_trees + tree.begin * shards.floats;
    alignas(64) float chunk[kChunk];
    for_each_chunk(0, shards.floats, [&](std::int64_t begin, std::int64_t end) {
        add(chunk, from + begin, shards.floats, end - begin);
        stream(to + begin, chunk, static_cast<std::size_t>(end - begin));
    });
}

/// What is left of the tree, of `size` floats from `begin` on: where they lie, or `to`, where they
/// are put.
const float* add_rest(const Shards& shards, int parts, Run tree, std::int64_t begin,
                      std::int64_t size, float* to) {
    const bool is_shard = tree.count() == 1;
    const float* const sums = is_shard ? shards.sums_of_shards : shards.sums_of_trees;
    for (int part = 0; part < parts; ++part)
        if (run_of(shards, {part, parts}).holds(tree))
            return sums + tree.begin * shards.floats + begin;
    float of_right[kChunk];
    const float* const left = add_rest(shards, parts, tree.left(), begin, size, to);
    const float* const right = add_rest(shards, parts, tree.right(), begin, size, of_right);
    for (std::int64_t i = 0; i < size; ++i) to[i] = left[i] + right[i];
    return to;
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
    AddTree& add = tree_of(shards.count);
    for_each_sum(shards, part, [&](const ShardSum& sum, std::int64_t first, std::int64_t last) {
        auto* const to = static_cast<float*>(call.tensors[sum.tensor]);
        if (part.count == 1)
            return add(to, shards.sums_of_shards + sum.offset, shards.floats, sum.size);
        for_each_chunk(first, last, [&](std::int64_t begin, std::int64_t end) {
            add_rest(shards, part.count, all, sum.offset + begin, end - begin, to + begin);
        });
    });
}

}  // namespace fovea::runtime
