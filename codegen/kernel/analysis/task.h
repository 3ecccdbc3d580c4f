// What a thread, or a block of them, does at a time of a kernel over tiles: what stands inside of
// the loops of points and of the `par` tiles.
#pragma once

#include <string>
#include <vector>

#include "codegen/kernel/kernel.h"

namespace fovea::kernel {

/// Why a kernel over tiles cannot be planned, as a clause: "the kernel has …".
struct TileRefusal {
    std::string reason;
};

struct Task {
    std::vector<AxisId> points;  // outermost first
    AxisId par = -1;  // -1: there are no such tiles
    /// In order. Numbers that are made around the loops are made again in every task: they are few.
    std::vector<Id> nodes;
    bool works_outside = false;  // a store or a loop over tiles stands beside a loop of points
    bool points_inside = false;  // a loop of points stands inside of the `par` tiles
};

/// Throws TileRefusal where there are several loops beside each other, two `par` axes, or points
/// that go one after the other.
Task take_task(const Kernel& kernel);

}  // namespace fovea::kernel
