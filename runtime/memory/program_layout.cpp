#include "program_layout.h"

#include <climits>
#include <utility>

#include "../dtype.h"
#include "../error.h"
#include "arena.h"
#include "shape.h"
#include "shard_layout.h"

namespace fovea::runtime {
namespace {

std::size_t tensor_bytes(DType dtype, std::span<const std::int64_t> shape) {
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(element_count(shape), static_cast<std::int64_t>(size_of(dtype)),
                               &bytes) ||
        bytes > PTRDIFF_MAX - static_cast<std::int64_t>(kAlignment)) {
        throw UserError("a tensor of shape {} has too many bytes", {shape_text(shape)});
    }
    return static_cast<std::size_t>(bytes);
}

void append(MemoryBlock& block, std::size_t bytes, const Program& program, const char* what) {
    block.offsets.push_back(block.bytes);
    if (__builtin_add_overflow(block.bytes, aligned(bytes), &block.bytes))
        throw UserError("the {} of program '{}' have too many bytes", {what, program.name});
}

void check_all_shards(const MemoryBlock& block, int shards, const Program& program,
                      const char* what) {
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(block.bytes, static_cast<std::size_t>(shards), &bytes))
        throw UserError("the {} of program '{}' have too many bytes", {what, program.name});
}

/// Outputs in the workspace: their whole lines of memory from the phase that writes them first,
/// what lies between those always.
std::vector<FixedBuffer> fixed_outputs(const Program& program, std::span<const std::int64_t> dims,
                                       const OutputsInWorkspace& in_workspace) {
    const auto& places = in_workspace.places;
    std::vector<FixedBuffer> fixed(2 * places.size());
    for (std::size_t i = 0; i < places.size(); ++i) {
        const TensorSpec& output = program.outputs[places[i].number];
        const std::size_t bytes = tensor_bytes(output.dtype, shape_values(output.shape, dims));
        const std::size_t whole = bytes / kAlignment * kAlignment, at = places[i].offset;
        const std::size_t next = i + 1 < places.size() ? places[i + 1].offset : in_workspace.bytes;
        fixed[2 * i] = {{whole, output.first, INT_MAX}, at};
        fixed[2 * i + 1] = {{next - at - whole, 0, INT_MAX}, at + whole};
    }
    return fixed;
}

/// The places of all buffers; those that stay take none.
MemoryBlock workspace_of(const Program& program, std::span<const std::int64_t> dims,
                         std::span<const FixedBuffer> fixed = {}) {
    std::vector<BufferLife> lives;
    for (const BufferSpec& buffer : program.buffers)
        lives.push_back(
            life_of(buffer, tensor_bytes(buffer.dtype, shape_values(buffer.shape, dims))));
    WorkspacePlan plan = plan_workspace(lives, fixed);
    return {std::move(plan.offsets), plan.peak_bytes};
}

}  // namespace

std::size_t ProgramLayout::workspace_bytes() const {
    return ahead + workspace.bytes * static_cast<std::size_t>(shards);
}

std::size_t ProgramLayout::prepared_bytes() const {
    return prepared.bytes * static_cast<std::size_t>(shards);
}

ProgramLayout lay_out(const Program& program, std::span<const std::int64_t> dims, int shards,
                      const std::function<bool(const TensorSpec&)>& is_elsewhere,
                      const OutputsInWorkspace& in_workspace, bool shares) {
    ProgramLayout layout;
    layout.shards = shards;
    const auto bytes_of = [&](DType dtype, std::span<const Extent> shape) {
        return tensor_bytes(dtype, shape_values(shape, dims));
    };
    for (const TensorSpec& input : program.inputs)
        append(layout.inputs, bytes_of(input.dtype, input.shape), program, "inputs");
    for (const TensorSpec& output : program.outputs)
        append(layout.outputs, is_elsewhere(output) ? 0 : bytes_of(output.dtype, output.shape),
               program, "outputs");
    const ShardedRuns* const sharded = program.shards.runs;
    const std::vector<FixedBuffer> fixed = fixed_outputs(program, dims, in_workspace);
    if (shards > 1) {
        layout.ahead = aligned(in_workspace.bytes);
        layout.workspace = workspace_of(program, sharded->dims(program, dims, shards));
    } else {
        layout.workspace = workspace_of(program, dims, fixed);
    }
    for (const BufferSpec& buffer : program.buffers) {
        if (!buffer.prepared) continue;
        const std::vector<std::int64_t> shape = shape_values(buffer.shape, dims);
        layout.prepared_sizes.insert(layout.prepared_sizes.end(), shape.begin(), shape.end());
        const std::size_t bytes = tensor_bytes(buffer.dtype, shape);
        append(layout.prepared, shares && buffer.shared >= 0 ? 0 : bytes, program,
               "prepared buffers");
    }
    check_all_shards(layout.workspace, shards, program, "buffers");
    check_all_shards(layout.prepared, shards, program, "prepared buffers");
    if (shards > 1) layout.bytes_of_sums = sharded->sum_bytes(program, dims, shards);
    return layout;
}

}  // namespace fovea::runtime
