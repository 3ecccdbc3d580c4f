// The sizes were measured: a tile of scores and what it is made from stay in the first caches.
#include "codegen/kernel/tile_schedule.h"

namespace fovea::kernel {

TileSchedule tile_schedule(const Kernel& kernel) {
    TileSchedule schedule;
    for (const Node& node : kernel.nodes)
        if (auto loop = std::get_if<Loop>(&node.operation))
            if (!leaves_types(loop->kind)) schedule.tiles[loop->axis] = 64;
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
    return text;
}

}  // namespace fovea::kernel
