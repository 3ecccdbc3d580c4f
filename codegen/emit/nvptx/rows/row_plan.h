// How a row kernel lies on the threads: chosen from static sizes alone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/kernel/analysis/passes.h"
#include "codegen/kernel/analysis/row_axes.h"
#include "codegen/target/gpu.h"

namespace fovea::emit::nvptx {

/// A block has threads / lanes groups of `lanes` neighbouring threads. Each group takes a point:
/// one position along each of `points` (of a kernel with sums over rows, along each of `rows`,
/// many of them in turn). Its lanes walk the inner axes: `lane`, shared among them, for each
/// position along `steps`. Without a lane, threads that have the same point can share the first of
/// `steps`: neighbouring threads then have neighbouring points, and `parts` of a block one point.
struct RowPlan {
    std::vector<kernel::AxisId> points;  // the last is the fastest
    kernel::AxisId lane = -1;            // -1: no inner axis is shared
    std::vector<kernel::AxisId> steps;
    std::vector<kernel::AxisId> rows;  // that sums by block are over
    kernel::AxisId blocks = -1;
    std::vector<kernel::BlockSum> sums;
    int lanes = 1, parts = 1, threads = 0;
    /// Elements along `lane` that each thread keeps in registers, `vector` neighbours at a time; 0:
    /// it walks them in a loop, once for each pass.
    int per_lane = 0, vector = 1;
    /// Elements along `lane` that a block takes; 0: all.
    int strip = 0;
    kernel::Passes passes;

    int groups() const { return threads / lanes / parts; }
    std::vector<kernel::AxisId> inner() const;
};

/// Throws InternalError where why_not_rows gives a reason.
RowPlan plan_rows(const kernel::Kernel& kernel, const target::GpuRows& target);

}  // namespace fovea::emit::nvptx
