// Addresses of shards, and sums over them.
#include "shards.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <utility>

#include "../error.h"
#include "../isa.h"

namespace fovea::runtime {
namespace {

/// Element i of the tree over `Count` shards, `stride` floats apart.
template <int Count>
[[gnu::always_inline]] inline float tree(const float* at, std::int64_t stride) {
    if constexpr (Count == 1) {
        return *at;
    } else {
        constexpr int kLeft = int(std::bit_floor(unsigned(Count - 1)));
        return tree<kLeft>(at, stride) + tree<Count - kLeft>(at + kLeft * stride, stride);
    }
}

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

AddTree* tree_of(int count) {
    static const auto all = trees(std::make_integer_sequence<int, kMostShards>());
    if (count < 1 || count > kMostShards) throw InternalError("{} shards", {count});
    return all[std::size_t(count - 1)];
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

void add_shards(const Call& call, Part part) {
    const Shards& shards = *call.shards;
    AddTree* const add = tree_of(shards.count);
    // Threads share the floats of all sums, in lines of memory.
    constexpr std::int64_t kLine = 16;
    const std::int64_t lines = (shards.floats_of_sums + kLine - 1) / kLine;
    const std::int64_t begin = lines * part.index / part.count * kLine;
    const std::int64_t end = lines * (part.index + 1) / part.count * kLine;
    if (shards.sums == 0) return;
    const float* const start = shards.sum[0].from;
    for (int i = 0; i < shards.sums; ++i) {
        const ShardSum& sum = shards.sum[i];
        const std::int64_t at = sum.from - start;
        const std::int64_t from = std::clamp<std::int64_t>(begin - at, 0, sum.size);
        const std::int64_t to = std::clamp<std::int64_t>(end - at, 0, sum.size);
        if (from < to)
            add(static_cast<float*>(call.tensors[sum.tensor]) + from, sum.from + from,
                shards.floats_of_sums, to - from);
    }
}

}  // namespace fovea::runtime
