// Sums along different axes of terms that share a costly value of three axes: gradients of scores
// that are no dot products. One pass over the tile computes them all.
#pragma once

#include <map>
#include <vector>

#include "codegen/emit/cpp/tiles/tile_axes.h"
#include "codegen/emit/cpp/tiles/tile_roots.h"

namespace fovea::emit {

/// The sums of a block that are computed together, by the first of each group; `loop` is the loop
/// of the block, or -1. A group has sums along both of two axes, the same axis in the lanes, and
/// reads nothing that is computed in the block behind the first of its sums.
std::map<kernel::Id, std::vector<kernel::Id>> joint_sums(const TilePlan& plan, const TileAxes& axes,
                                                         const TileRoots& roots,
                                                         const std::vector<kernel::Id>& block,
                                                         kernel::Id loop);

/// The product that a step adds to a sum, where it is of pairs, which have no tile; else null.
const kernel::Map* product_of_pairs(const kernel::Kernel& kernel, kernel::Id sum);

/// The values of three axes or more that the terms of several of these sums, or one term twice, are
/// made of, operands first; but products that are added alone.
std::vector<kernel::Id> shared_values(const kernel::Kernel& kernel,
                                      const std::vector<kernel::Id>& sums);

}  // namespace fovea::emit
