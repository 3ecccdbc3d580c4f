// What a kernel with loops over tiles becomes on a GPU: a block of threads for each point and each
// tile of the `par` axis, values that lie in shared memory, and the steps that fill them.
//
// A step computes a value element by element, every element by one thread: the same thread for
// all steps over the same axes. Values are made on the way from those in shared memory and from
// the kernel's buffers; only sums, what they are made of, carried values, and what is read more
// than once lie in shared memory.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "codegen/kernel/analysis/task.h"
#include "codegen/target/gpu.h"

namespace fovea::emit::nvptx {

struct TileStep {
    enum class Kind {
        keep,   // a value or a loaded tile, to its array
        store,  // to a buffer
        start,  // what a carried value starts with, in front of its loop
        next,   // what it becomes, at the end of the loop's block
        loop,
    };
    Kind kind = Kind::keep;
    kernel::Id node = -1;              // the value, the store, or the loop
    int carry = -1;                    // start, next: which of the loop's
    kernel::Id value = -1;             // what an element is
    std::vector<kernel::AxisId> axes = {};  // of the elements, ascending
    std::vector<kernel::Id> sums = {};  // contractions and reductions on the way, over these axes
    kernel::Id array = -1;  // that is filled; -1: none
    bool waits = false;  // for all threads to have done the steps before
};

struct TilePlan {
    kernel::Kernel kernel;  // after the rewrites
    std::vector<kernel::AxisId> points;
    kernel::AxisId par = -1;
    std::map<kernel::AxisId, int> tiles;  // positions per tile, of each axis with a loop
    std::map<kernel::Id, std::vector<TileStep>> blocks;  // by loop; -1: in front of all
    std::map<kernel::Id, kernel::Id> kept;  // node -> the node that names its array
    std::map<kernel::Id, std::vector<kernel::AxisId>> arrays;  // axes, by the node that names it
    target::Gpu target;

    /// Elements along an axis that a block holds at once.
    int length(kernel::AxisId axis) const;
    /// Floats of an array's rows with their padding, and of a whole array.
    int row_length(const std::vector<kernel::AxisId>& axes) const;
    int array_length(const std::vector<kernel::AxisId>& axes) const;
    /// Bytes of all arrays; those that the host has to ask for: none, or all where they are more
    /// than a block has without asking.
    int shared_bytes() const;
    int dynamic_bytes() const;
};

/// Throws kernel::TileRefusal.
TilePlan plan_tiles(const kernel::Kernel& kernel, const target::Gpu& target);

/// Sets `waits` of every step that reads or overwrites what other threads wrote or read since they
/// last waited.
void place_barriers(TilePlan& plan);

/// A value in shared memory that a step reads.
struct TileRead {
    kernel::Id node = -1;
    bool in_sum = false;  // at other elements than the step's own
};
/// Those of which the elements of a step are made, and those of any value.
std::vector<TileRead> reads_of(const TilePlan& plan, const TileStep& step);
std::vector<TileRead> reads_of(const TilePlan& plan, kernel::Id value);

}  // namespace fovea::emit::nvptx
