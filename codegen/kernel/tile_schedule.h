// Schedules of kernels with loops over tiles on the CPU, as data: how long tiles are and how large
// the register tiles of their sums, from static sizes alone.
#pragma once

#include <map>
#include <string>

#include "codegen/kernel/kernel.h"
#include "codegen/target/cpu.h"

namespace fovea::kernel {

/// Rows x 16 * vectors sums in registers.
struct RegisterTile {
    int rows = 0, vectors = 0;
};

struct TileSchedule {
    std::map<AxisId, int> tiles;  // positions per tile, whole vectors, of each axis with a loop
    /// Not 0: where no axis with a loop has more positions, a second form of the kernel, without
    /// loops over tiles, computes each as one tile of so many, to the same bits.
    int small_tile = 0;
};

/// For a kernel in which `par` loops and loops over tiles cut axes into tiles.
TileSchedule tile_schedule(const Kernel& kernel, const target::CpuTiles& target);

/// The register tile of a sum of products whose lanes lie along an axis of this extent.
RegisterTile register_tile(const Dim& lanes, const target::CpuTiles& target);

/// `tile q 64, tile k 64`; `tile q 64, tile k 64, or small ones of 16`
std::string print(const Kernel& kernel, const TileSchedule& schedule);

}  // namespace fovea::kernel
