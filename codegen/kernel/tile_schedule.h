// Schedules of kernels with loops over tiles on the CPU, as data: how long tiles are and how large
// the register tiles of their sums, from static sizes alone.
#pragma once

#include <map>
#include <string>

#include "codegen/kernel/kernel.h"

namespace fovea::kernel {

/// Rows x 16 * vectors sums in registers.
struct RegisterTile {
    int rows = 6, vectors = 4;
};

struct TileSchedule {
    std::map<AxisId, int> tiles;  // positions per tile, whole vectors, of each axis with a loop
    /// Not 0: where no axis with a loop has more positions, a second form of the kernel, without
    /// loops over tiles, computes each as one tile of so many, to the same bits.
    int small_tile = 0;
};

/// For a kernel in which `par` loops and loops over tiles cut axes into tiles.
TileSchedule tile_schedule(const Kernel& kernel);

/// The padding of the rows of a tile in memory. Rows and arrays then differ in their offset within
/// a page, which avoids 4 KB aliasing (loads that wait for unrelated stores).
constexpr int kRowPadding = 16;

/// The register tile of a sum of products whose lanes lie along an axis of this extent.
RegisterTile register_tile(const Dim& lanes);
/// That of a sum of anything else, whose terms take many instructions.
constexpr RegisterTile kTileOfTerms{4, 1};

/// `tile q 64, tile k 64`; `tile q 64, tile k 64, or small ones of 16`
std::string print(const Kernel& kernel, const TileSchedule& schedule);

}  // namespace fovea::kernel
