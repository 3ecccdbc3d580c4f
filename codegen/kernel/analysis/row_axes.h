// Roles of the axes of a row kernel: which one the neighbours lie along, which are walked, and over
// which rows sums are taken block by block.
#pragma once

#include <vector>

#include "codegen/kernel/analysis/loop_nest.h"

namespace fovea::kernel {

/// A sum over rows by blocks, and where it is stored.
struct BlockSum {
    Id sum = -1, store = -1;
};

struct RowAxes {
    std::vector<Id> nodes;  // those of the nest, without the stores of sums over rows
    std::vector<BlockSum> sums;
    std::vector<AxisId> rows;  // that these sums are over, block by block
    AxisId blocks = -1;
    std::vector<AxisId> inner;  // axes without a loop that are neither rows nor blocks
    AxisId along = -1;  // of these the one that memory likes best; -1: there is none

    /// The inner axes but `along`.
    std::vector<AxisId> across() const;
};

RowAxes find_row_axes(const Kernel& kernel, const LoopNest& nest);

}  // namespace fovea::kernel
