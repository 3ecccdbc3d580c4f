// The sizes were measured: a tile of scores and what it is made from stay in the first caches.
#include "codegen/kernel/tile_schedule.h"

#include <set>

namespace fovea::kernel {

namespace {

/// One vector of lanes. Vectors that are summed over should be no longer: with longer ones the
/// sums' own instructions are most of the work, however few positions there are.
constexpr int kSmallTile = 16;

/// Whether axes with loops can be so short, and all others are.
bool can_be_small(const Kernel& kernel, const TileSchedule& schedule) {
    std::set<AxisId> points;
    for (const Node& node : kernel.nodes)
        if (auto loop = std::get_if<Loop>(&node.operation); loop && leaves_types(loop->kind))
            points.insert(loop->axis);
    for (AxisId axis = 0; axis < AxisId(kernel.axes.size()); ++axis) {
        const Dim& extent = kernel.axes[std::size_t(axis)].extent;
        if (points.contains(axis)) continue;
        if (!extent.is_static() && !schedule.tiles.contains(axis)) return false;
        if (extent.is_static() && extent.value() > kSmallTile) return false;
    }
    return true;
}

}  // namespace

TileSchedule tile_schedule(const Kernel& kernel) {
    constexpr int kTile = 64;
    TileSchedule schedule;
    for (const Node& node : kernel.nodes)
        if (auto loop = std::get_if<Loop>(&node.operation); loop && !leaves_types(loop->kind))
            schedule.tiles[loop->axis] = kTile;
    if (can_be_small(kernel, schedule)) schedule.small_tile = kSmallTile;
    return schedule;
}

RegisterTile register_tile(const Dim& lanes) {
    if (!lanes.is_static()) return {6, 4};
    const std::int64_t vectors = (lanes.value() + 15) / 16;
    if (vectors <= 1) return {12, 1};
    if (vectors == 2) return {12, 2};
    if (vectors == 3) return {8, 3};
    if (vectors == 5) return {4, 5};
    return {6, 4};
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
