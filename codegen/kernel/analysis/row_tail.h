// Rows whose ends a mask hides: a kernel skips the positions past the last one that is seen.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "codegen/kernel/kernel.h"

namespace fovea::kernel {

/// What a kernel computes of a row past the bound of its mask.
struct RowTail {
    Id bound = -1;  // an i32 scalar, perhaps negative or beyond the row: no position from
        // it on is seen
    std::map<Id, Id> values;  // of tiles that lie along the row: a scalar, the same for every
        // position from the bound on
};

/// Matches where(mask, x, y) with a mask that is false from a position of `axis` on (position <
/// length, position <= query, and conjunctions with `and`), and propagates its value to the end of
/// each row. None unless every sum, maximum and store of float32 tiles along the axis, among
/// `nodes`, is known there, and 0 where rows are summed. Adds scalar nodes to `kernel`, after its
/// last, and drops the masks that hold for every position before the bound.
std::optional<RowTail> cut_row_tail(Kernel& kernel, const std::vector<Id>& nodes, AxisId axis);

/// Whether a node is the number 0.
bool is_zero(const Kernel& kernel, Id id);

}  // namespace fovea::kernel
