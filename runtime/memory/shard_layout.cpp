// What has the dim of the batch has it first: rows of it are a shard's. Outputs without it are
// sums, inputs without it are read by all shards.
#include "shard_layout.h"

#include <algorithm>

#include "../dtype.h"
#include "../error.h"
#include "shape.h"

namespace fovea::runtime {
namespace {

bool has_batch(const Program& program, std::span<const Extent> shape) {
    return !shape.empty() && shape[0].as_dim() == program.shards.dim;
}

std::int64_t elements(const TensorSpec& spec, std::span<const std::int64_t> dims) {
    return element_count(shape_values(spec.shape, dims));
}

/// Floats of a sum, whole lines of memory.
std::int64_t aligned_floats(std::int64_t count) {
    return static_cast<std::int64_t>(aligned(static_cast<std::size_t>(count) * sizeof(float)) /
                                     sizeof(float));
}

/// Bytes of a sequence's part of a tensor.
ShardTensor by_sequence(const TensorSpec& spec, std::span<const std::int64_t> dims) {
    const std::vector<std::int64_t> shape = shape_values(spec.shape, dims);
    const std::int64_t row = element_count(std::span(shape).subspan(1));
    return {nullptr, row * static_cast<std::int64_t>(size_of(spec.dtype)), 0, 0};
}

std::int64_t floats_of_sums(const Program& program, std::span<const std::int64_t> dims) {
    std::int64_t floats = 0;
    for (const TensorSpec& output : program.outputs)
        if (!has_batch(program, output.shape)) floats += aligned_floats(elements(output, dims));
    return floats;
}

}  // namespace

int shard_count(const Program& program, std::span<const std::int64_t> dims) {
    const ShardRule& rule = program.shards;
    if (rule.count < 2) return 1;
    if (rule.count > kMostShards || rule.dim < 0)
        throw InternalError("program '{}' has {} shards along dim {}",
                            {program.name, rule.count, rule.dim});
    if (floats_of_sums(program, dims) > rule.most_floats) return 1;
    const std::int64_t sequences = dims[static_cast<std::size_t>(rule.dim)];
    return static_cast<int>(std::clamp<std::int64_t>(sequences, 1, rule.count));
}

std::vector<std::int64_t> dims_of_shard(const Program& program, std::span<const std::int64_t> dims,
                                        int count) {
    std::vector<std::int64_t> result(dims.begin(), dims.end());
    if (count < 2) return result;
    std::int64_t& sequences = result[static_cast<std::size_t>(program.shards.dim)];
    sequences = (sequences + count - 1) / count;
    return result;
}

std::size_t bytes_of_sums(const Program& program, std::span<const std::int64_t> dims, int count) {
    return static_cast<std::size_t>(2 * floats_of_sums(program, dims) * count) * sizeof(float);
}

std::shared_ptr<const ShardLayout> lay_out_shards(const Program& program,
                                                  std::span<const std::int64_t> dims, int count,
                                                  std::size_t parameters, PlaceSizes places,
                                                  Arena& sums) {
    auto layout = std::make_shared<ShardLayout>();
    const std::int64_t floats = floats_of_sums(program, dims);
    sums.reserve(bytes_of_sums(program, dims, count) + kAlignment);
    layout->tensors.resize(parameters);
    for (const TensorSpec& input : program.inputs)
        layout->tensors.push_back(has_batch(program, input.shape) ? by_sequence(input, dims)
                                                                  : ShardTensor{});
    std::int64_t offset = 0;
    for (const TensorSpec& output : program.outputs) {
        if (has_batch(program, output.shape)) {
            layout->tensors.push_back(by_sequence(output, dims));
            continue;
        }
        const std::int64_t size = elements(output, dims);
        layout->sums.push_back({static_cast<int>(layout->tensors.size()), offset, size});
        layout->tensors.push_back(
            {sums.as<float>() + offset, 0, floats * std::int64_t{sizeof(float)}, 0});
        offset += aligned_floats(size);
    }
    for (const BufferSpec& buffer : program.buffers) {
        const std::size_t apart = buffer.prepared ? places.prepared : places.workspace;
        layout->tensors.push_back({nullptr, 0, 0, static_cast<std::int64_t>(apart)});
    }
    layout->addresses.resize(layout->tensors.size() * static_cast<std::size_t>(count));
    layout->dims.resize(dims.size() * static_cast<std::size_t>(count));
    layout->shards = {.count = count,
                      .dim = program.shards.dim,
                      .dims = static_cast<int>(dims.size()),
                      .tensors = static_cast<int>(layout->tensors.size()),
                      .sums = static_cast<int>(layout->sums.size()),
                      .tensor = layout->tensors.data(),
                      .sum = layout->sums.data(),
                      .floats = floats,
                      .sums_of_shards = sums.as<float>(),
                      .sums_of_trees = sums.as<float>() + floats * count,
                      .dims_of_places = layout->dims.data(),
                      .addresses_of_places = layout->addresses.data()};
    return layout;
}

const ShardedRuns kShardedRuns = {shard_count, dims_of_shard, bytes_of_sums, lay_out_shards};

}  // namespace fovea::runtime
