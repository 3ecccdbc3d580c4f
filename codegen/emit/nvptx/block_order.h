// Which tile a block computes. Blocks start in the order of their numbers: those with most work
// come first, so that short ones fill the end, when processors become free one after the other.
#pragma once

#include <vector>

#include "codegen/emit/nvptx/function.h"

namespace fovea::emit::nvptx {

/// Of the tiles of an axis, for every point of other axes.
struct BlockOrder {
    kernel::AxisId rows = -1;
    int tile_rows = 1;
    std::vector<kernel::AxisId> points;
    std::int64_t cached_bytes = 0;  // of the cache of the GPU, in which tiles share what they read
};

/// Sets the positions along the points of this block and returns the first of its rows (i64).
///
/// Where all tiles have as much work, those of a point follow each other. Else the longest tiles of
/// many points come first, then the next longer ones of all of these: of as many points as have
/// what their tiles share in the cache of the GPU together.
llvm::Value* place_block(Function& function, const BlockOrder& order);

}  // namespace fovea::emit::nvptx
