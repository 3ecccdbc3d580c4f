// Kernels whose tasks are tiles read long rows once per task, and every task begins with memory
// that no cache has.
#include "codegen/emit/cpp/tiles/tile_ahead.h"

#include <optional>

#include "codegen/emit/cpp/tiles/tile_axes.h"

namespace fovea::emit {

using namespace kernel;

namespace {

/// Whole rows along `row`, contiguous and of a size that is known.
std::optional<RowsAhead> rows_of(const TilePlan& plan, const Access& access, AxisId row) {
    RowsAhead rows;
    rows.access = &access;
    bool has_row = false;
    for (AxisId axis : TileAxes(plan).of(access)) {
        const Dim& extent = plan.kernel.axes[std::size_t(axis)].extent;
        const Dim stride = stride_along(access.strides, axis);
        if (axis == row) {
            has_row = true, rows.stride = stride;
        } else if (rows.width > 0 || plan.is_tiled(axis) || !extent.is_static() ||
                   !stride.is_one()) {
            return std::nullopt;
        } else {
            rows.width = int(extent.value());
        }
    }
    if (!has_row || rows.width == 0) return std::nullopt;
    return rows;
}

}  // namespace

std::vector<RowsAhead> rows_ahead(const TilePlan& plan, AxisId row) {
    std::vector<RowsAhead> all;
    if (plan.par < 0) return all;
    for (Id id = 0; id < Id(plan.kernel.nodes.size()); ++id) {
        const Load* load = as<Load>(plan.kernel, id);
        const Store* store = row == plan.par ? as<Store>(plan.kernel, id) : nullptr;
        if (!load && !store) continue;
        std::optional<RowsAhead> rows = rows_of(plan, load ? load->access : store->access, row);
        if (!rows) continue;
        rows->now = store != nullptr;
        all.push_back(*rows);
    }
    return all;
}

}  // namespace fovea::emit
