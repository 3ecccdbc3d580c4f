// Where the tensors of a program lie in their blocks of memory, for one choice of dims.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "../program.h"
#include "plan_workspace.h"

namespace fovea::runtime {

/// Tensors behind each other, or sharing memory: where each starts, in bytes, and the bytes of all.
struct MemoryBlock {
    std::vector<std::size_t> offsets;
    std::size_t bytes = 0;
};

/// Outputs that lie at the start of the workspace, each at a place that is given.
struct OutputsInWorkspace {
    struct Place {
        std::size_t number = 0;  // among the program's outputs
        std::size_t offset = 0;  // bytes, a multiple of kAlignment
    };
    std::vector<Place> places;  // in the order of offsets
    std::size_t bytes = 0;  // that they take, with what lies between and behind them
};

/// When a buffer of so many bytes lives during a run; one that stays has no bytes then.
inline BufferLife life_of(const BufferSpec& buffer, std::size_t bytes) {
    return {buffer.prepared ? 0 : bytes, buffer.first, buffer.last, buffer.over};
}

struct ProgramLayout {
    MemoryBlock inputs, outputs;
    std::size_t ahead = 0;  // bytes before the workspace: of outputs that lie there, in shards
    MemoryBlock workspace;  // of a shard: all buffers, in their order; those that stay take nothing
    MemoryBlock prepared;  // of a shard: the buffers that stay, in their order
    std::vector<std::int64_t> prepared_sizes;  // of the shapes of those that stay, joined
    int shards = 1;  // of the batch (parallel/shards.h)
    std::size_t bytes_of_sums = 0;  // of shards

    std::size_t workspace_bytes() const;  // of all shards
    std::size_t prepared_bytes() const;
};

/// `is_elsewhere` says which outputs take no memory of the program's own, `shares` whether shared
/// buffers do. Buffers that are read
/// last before an output in the workspace is written share its memory; but what lies between these
/// outputs, parts of lines too, is nobody's. UserError for sizes that are negative, or whose bytes
/// do not fit.
ProgramLayout lay_out(const Program& program, std::span<const std::int64_t> dims, int shards,
                      const std::function<bool(const TensorSpec&)>& is_elsewhere,
                      const OutputsInWorkspace& in_workspace = {}, bool shares = false);

}  // namespace fovea::runtime
