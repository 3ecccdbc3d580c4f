// One kernel of a model on a device: its grid, its arguments, and the steps of a scan.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "code.h"
#include "device.h"

namespace fovea::runtime::device {

/// What a kernel draws with: the address of seed and step, and its sites.
struct Draws {
    Address key = 0;
    std::span<const int> sites = {};
};

/// Runs a kernel on `buffers`, in the order of its own; `dims` are the values of the model's,
/// `module` the number of what holds its entries. A grid without blocks launches nothing.
void run_kernel(Device& device, const Kernel& kernel, std::span<const Region> buffers,
                std::span<const std::int64_t> dims, const Draws& draws = {},
                int module = kAnyModule);

}  // namespace fovea::runtime::device
