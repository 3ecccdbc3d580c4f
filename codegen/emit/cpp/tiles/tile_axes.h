// Questions about the axes of a kernel over tiles: which are cut into tiles, which lie in lanes.
#pragma once

#include <vector>

#include "codegen/emit/cpp/tiles/tile_plan.h"

namespace fovea::emit {

class TileAxes {
  public:
    explicit TileAxes(const TilePlan& plan);

    bool has(kernel::Id id, kernel::AxisId axis) const;
    /// The axes along which an access moves within a tile, ascending.
    std::vector<kernel::AxisId> of(const kernel::Access& access) const;
    /// Whether a load has stride 1 along `axis`.
    bool is_contiguous(kernel::Id load, kernel::AxisId axis) const;

    /// Whether an axis has a few positions, as the queries of a step of decoding: its lanes would
    /// be empty.
    bool is_few(kernel::AxisId axis) const;

    /// Rows and lanes of a tile that stands in the block of `loop`: an axis without a loop lies in
    /// the lanes, else the axis of the outermost loop.
    Place2 place(const std::vector<kernel::AxisId>& axes, kernel::Id loop) const;
    /// The lanes of a store lie along the axis that is contiguous in memory.
    Place2 place(const kernel::Store& store, kernel::Id loop) const;

    /// The innermost loop over tiles that a load or a store moves with; -1: the task.
    kernel::Id home(kernel::Id id) const;

    /// Whether later tiles of the tasks' axis have longer loops, and are taken first.
    bool takes_last_first() const;

    /// Throws TileRefusal for a node that has no place on the CPU.
    void check(kernel::Id id) const;

  private:
    int depth(kernel::AxisId axis, kernel::Id loop) const;

    const TilePlan& plan_;
    const kernel::Kernel& kernel_;
    std::vector<kernel::Position> positions_;
};

}  // namespace fovea::emit
