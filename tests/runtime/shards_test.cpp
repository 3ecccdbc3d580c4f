// Sums over shards are one binary tree, whoever adds them; calls of shards have their sequences.
#include "runtime/parallel/shards.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "runtime/memory/shard_layout.h"
#include "runtime/training/random_stream.h"

using namespace fovea::runtime;

namespace {

/// A program of inputs x [batch, 3] and table [5], outputs y [batch, 2], w.grad [7, 5] and
/// b.grad [1], and a buffer [2, batch].
Program program() {
    const Extent batch = Extent::dim(0);
    Program result;
    result.name = "gradient";
    result.inputs = {{.name = "x", .shape = {batch, 3}}, {.name = "table", .shape = {5}}};
    result.outputs = {{.name = "y", .shape = {batch, 2}},
                      {.name = "w.grad", .shape = {7, 5}},
                      {.name = "b.grad", .shape = {1}}};
    result.buffers = {{.name = "buffer", .shape = {2, batch}}};
    result.shards = {.count = 8, .dim = 0, .most_floats = 1000};
    return result;
}

float tree(const std::vector<float>& values, std::size_t begin, std::size_t end) {
    if (end - begin == 1) return values[begin];
    const std::size_t middle = begin + std::bit_floor(end - begin - 1);
    return tree(values, begin, middle) + tree(values, middle, end);
}

}  // namespace

TEST_CASE("sums over shards have the bits of one tree, for all numbers of shards and threads") {
    const std::vector<std::int64_t> dims = {64};
    const RandomStream random(1, 2);
    for (int count = 2; count <= kMostShards; ++count) {
        Arena memory;
        const auto layout = lay_out_shards(program(), dims, count, 0, {}, memory);
        const Shards& shards = layout->shards;
        CHECK(shards.floats == 64);
        for (std::int64_t i = 0; i < count * shards.floats; ++i)
            shards.sums_of_shards[i] =
                float(random.below(std::uint64_t(i), 1000)) * std::exp2(float(i % 17));
        for (int threads = 1; threads <= 19; ++threads) {
            std::vector<float> w(35, -1.F), b(1, -1.F);
            void* tensors[] = {nullptr, nullptr, nullptr, w.data(), b.data(), nullptr};
            Call call;
            call.dims = dims.data(), call.tensors = tensors, call.shards = &shards;
            for (int i = 0; i < threads; ++i) add_own_shards(call, {i, threads});
            for (int i = 0; i < threads; ++i) add_shards(call, {i, threads});
            int wrong = 0;
            for (std::int64_t i = 0; i < 36; ++i) {
                std::vector<float> terms;
                for (int shard = 0; shard < count; ++shard)
                    terms.push_back(
                        shards.sums_of_shards[shard * shards.floats + (i < 35 ? i : 48)]);
                const float sum = tree(terms, 0, terms.size());
                wrong += (i < 35 ? w[std::size_t(i)] : b[0]) != sum;
            }
            CAPTURE(count);
            CAPTURE(threads);
            CHECK(wrong == 0);
        }
    }
}

TEST_CASE("each shard has a thread, and the first thread has one") {
    for (int count = 1; count <= kMostShards; ++count)
        for (int threads = 1; threads < 40; ++threads) {
            const Shards shards{.count = count};
            CHECK(first_shard(shards, 0, threads) == 0);
            CHECK(first_shard(shards, 1, threads) >= 1);
            CHECK(first_shard(shards, threads, threads) == count);
            for (int i = 0; i < threads; ++i)
                CHECK(first_shard(shards, i, threads) <= first_shard(shards, i + 1, threads));
        }
}

TEST_CASE("the call of a shard has its sequences and the memory of its place") {
    const std::vector<std::int64_t> dims = {11};
    Arena memory;
    const auto layout = lay_out_shards(program(), dims, 4, 1, {4096, 0}, memory);
    std::vector<float> parameter(1), x(33), table(5), y(22), w(35), b(1), buffer(4096);
    void* tensors[] = {parameter.data(), x.data(), table.data(), y.data(),
                       w.data(),         b.data(), buffer.data()};
    Call whole;
    whole.dims = dims.data(), whole.tensors = tensors, whole.shards = &layout->shards;
    std::int64_t sequences = 0;
    for (int shard = 0; shard < 4; ++shard) {
        const Call call = call_of_shard(whole, shard, 2);
        CHECK(call.shards == nullptr);
        CHECK(call.first == sequences);
        CHECK(call.tensors[0] == parameter.data());
        CHECK(call.tensors[1] == x.data() + 3 * sequences);
        CHECK(call.tensors[2] == table.data());
        CHECK(call.tensors[3] == y.data() + 2 * sequences);
        CHECK(call.tensors[4] == layout->shards.sums_of_shards + 64 * shard);
        CHECK(call.tensors[5] == layout->shards.sums_of_shards + 64 * shard + 48);
        CHECK(call.tensors[6] == buffer.data() + 2 * 1024);
        sequences += call.dims[0];
        CHECK(call_of_place(whole, shard).dims[0] == 3);
    }
    CHECK(sequences == 11);
}

TEST_CASE("there are no more shards than sequences, and one where sums are large") {
    Program cut = program();
    const auto count = [&](std::int64_t batch) {
        return shard_count(cut, std::vector<std::int64_t>{batch});
    };
    CHECK(count(0) == 1);
    CHECK(count(1) == 1);
    CHECK(count(5) == 5);
    CHECK(count(64) == 8);
    CHECK(dims_of_shard(cut, std::vector<std::int64_t>{11}, 4) == std::vector<std::int64_t>{3});
    cut.shards.most_floats = 63;
    CHECK(count(64) == 1);
    cut.shards = {};
    CHECK(count(64) == 1);
}
