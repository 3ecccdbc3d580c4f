// Rows that an output has already when it lies over an input: the rows of a cache but the new one.
#pragma once

#include <optional>

#include "codegen/kernel/kernel.h"

namespace fovea::kernel {

/// A kernel that stores where(replaced, x, kept) for each row: as long as `replaced` is false, and
/// both lie in the same memory, there is nothing to do.
struct KeptRow {
    Id replaced = -1;  // the condition, the same along a row
    const Access *kept = nullptr, *stored = nullptr;  // the same elements of two buffers
    /// Where the condition is that the position along `axis` equals `position`, i32: then that row
    /// alone is replaced. -1: it is another condition.
    AxisId axis = -1;
    Id position = -1;
};

/// None where the nodes of a kernel do more than that, or the condition has the axis `lane`.
std::optional<KeptRow> find_kept_row(const Kernel& kernel, const std::vector<Id>& nodes,
                                     AxisId lane);

}  // namespace fovea::kernel
