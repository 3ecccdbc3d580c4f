// All axes with loops are cut alike.
#include "codegen/kernel/tile_schedule.h"

#include <set>

namespace fovea::kernel {

namespace {

/// Whether axes with loops can be as short as a small tile, and all others are.
bool can_be_small(const Kernel& kernel, const TileSchedule& schedule, int small) {
    std::set<AxisId> points;
    for (const Node& node : kernel.nodes)
        if (auto loop = std::get_if<Loop>(&node.operation); loop && leaves_types(loop->kind))
            points.insert(loop->axis);
    for (AxisId axis = 0; axis < AxisId(kernel.axes.size()); ++axis) {
        const Dim& extent = kernel.axes[std::size_t(axis)].extent;
        if (points.contains(axis)) continue;
        if (!extent.is_static() && !schedule.tiles.contains(axis)) return false;
        if (extent.is_static() && extent.value() > small) return false;
    }
    return true;
}

}  // namespace

TileSchedule tile_schedule(const Kernel& kernel, const target::CpuTiles& target) {
    TileSchedule schedule;
    for (const Node& node : kernel.nodes)
        if (auto loop = std::get_if<Loop>(&node.operation); loop && !leaves_types(loop->kind))
            schedule.tiles[loop->axis] = target.length;
    if (can_be_small(kernel, schedule, target.small_length))
        schedule.small_tile = target.small_length;
    return schedule;
}

RegisterTile register_tile(const Dim& lanes, const target::CpuTiles& target) {
    const RegisterTile widest{target.rows_of_four, 4};
    if (!lanes.is_static()) return widest;
    const std::int64_t vectors = (lanes.value() + target::kLanes - 1) / target::kLanes;
    if (vectors <= 1) return {target.rows_of_one, 1};
    if (vectors == 2) return {target.rows_of_two, 2};
    if (vectors == 3) return {target.rows_of_three, 3};
    if (vectors == 5) return {target.rows_of_five, 5};
    return widest;
}

std::string print(const Kernel& kernel, const TileSchedule& schedule) {
    std::string text;
    for (const auto& [axis, size] : schedule.tiles)
        text += (text.empty() ? "tile " : ", tile ") + kernel.axes[std::size_t(axis)].name + " " +
                std::to_string(size);
    if (schedule.small_tile > 0)
        text += ", or small ones of " + std::to_string(schedule.small_tile);
    return text;
}

}  // namespace fovea::kernel
