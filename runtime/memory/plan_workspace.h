// Offsets for buffers whose lifetimes are known, so that buffers that never live together share
// memory.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace fovea::runtime {

/// A buffer that is live in the steps `first` to `last`, both included. One that lies `over` an
/// earlier one of as many bytes, by its number, has the same place: its first step is the last of
/// that one, which no other lies over.
struct BufferLife {
    std::size_t bytes = 0;
    int first = 0, last = 0;
    int over = -1;
};

struct WorkspacePlan {
    std::vector<std::size_t> offsets;  // bytes, multiples of 64; in the order of the buffers
    std::size_t peak_bytes = 0;        // size of the workspace
};

/// A buffer whose place in the workspace is given.
struct FixedBuffer {
    BufferLife life;
    std::size_t offset = 0;  // bytes, a multiple of 64
};

/// Greedy by decreasing size, and by decreasing life; the smaller workspace of both. Around those
/// that are fixed, every buffer goes into the smallest gap that holds it between the placed buffers
/// it lives together with, else behind them (Pisarchyk and Lee 2020, "Efficient memory management
/// for deep neural net inference"). Ties go to the earlier buffer and the lower offset, so equal
/// inputs give equal plans. InternalError when `last < first`.
WorkspacePlan plan_workspace(std::span<const BufferLife> buffers,
                             std::span<const FixedBuffer> fixed = {});

/// The largest sum of (aligned) live bytes over the steps, which no plan goes below.
std::size_t largest_live_bytes(std::span<const BufferLife> buffers);

}  // namespace fovea::runtime
