// Which values of a kernel over tiles are computed by a statement of their own; the others are
// lazy, and stand inside the expressions that read them.
#pragma once

#include <vector>

#include "codegen/emit/cpp/tiles/tile_axes.h"
#include "codegen/emit/cpp/tiles/tile_plan.h"

namespace fovea::emit {

class TileRoots {
  public:
    TileRoots(const TilePlan& plan, const TileAxes& axes);

    bool is_root(kernel::Id id) const { return is_root_[std::size_t(id)]; }
    /// A contraction, or a reduction of a value with three axes.
    bool is_sum(kernel::Id id) const;
    /// where(valid, x, y) of a sum's tile: x is masked in place afterwards, where a tile needs it.
    bool is_mask(kernel::Id id) const;
    /// Whether computing a value, apart from what statements compute, calls a function.
    bool is_costly(kernel::Id id) const;
    /// Whether only sums with `lane` in the lanes read a value, or what is made of it.
    bool is_read_by_sums(kernel::Id id, kernel::AxisId lane) const;
    /// Whether a contraction multiplies a few rows with all rows of a tile that `loop` takes from
    /// memory, and both lie along the steps: to turn that tile would take longer than its products.
    bool multiplies_few_rows(kernel::Id loop, kernel::Id id, const Statement& sum) const;
    const std::vector<kernel::Id>& users(kernel::Id id) const { return users_[std::size_t(id)]; }

  private:
    bool needs_statement(kernel::Id id) const;
    bool needs_statement_for(kernel::Id id, kernel::Id user) const;
    bool has_open_sum(kernel::Id id) const;
    bool is_next(kernel::Id loop, kernel::Id id) const;
    /// Whether rows of floats lie along `step`, in memory or in an array: axes without tiles do,
    /// unless sums read the array turned, with `row` in the lanes.
    bool lies_along(kernel::Id id, kernel::AxisId step, kernel::AxisId row) const;
    /// The innermost loop over tiles around a node; -1: none.
    kernel::Id inner_loop(kernel::Id id) const;
    const std::vector<kernel::AxisId>& axes(kernel::Id id) const {
        return kernel_.nodes[std::size_t(id)].axes;
    }

    const TilePlan& plan_;
    const kernel::Kernel& kernel_;
    const TileAxes& axes_;
    std::vector<std::vector<kernel::Id>> users_;
    std::vector<kernel::Position> positions_;
    std::vector<bool> is_root_;
};

}  // namespace fovea::emit
