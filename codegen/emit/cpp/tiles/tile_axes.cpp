// Depths of loops decide: what varies slowest lies in the lanes, so that it is turned least often.
#include "codegen/emit/cpp/tiles/tile_axes.h"

#include <algorithm>

namespace fovea::emit {

using namespace kernel;

TileAxes::TileAxes(const TilePlan& plan)
    : plan_(plan), kernel_(plan.kernel), positions_(positions_of(plan.kernel)) {}

bool TileAxes::has(Id id, AxisId axis) const {
    const auto& axes = kernel_.nodes[std::size_t(id)].axes;
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

std::vector<AxisId> TileAxes::of(const Access& access) const {
    std::vector<AxisId> axes;
    for (const Stride& stride : access.strides)
        if (std::find(plan_.each.begin(), plan_.each.end(), stride.axis) == plan_.each.end())
            axes.push_back(stride.axis);
    if (access.row >= 0) {
        const std::vector<AxisId>& of_row = kernel_.nodes[std::size_t(access.row)].axes;
        axes.insert(axes.end(), of_row.begin(), of_row.end());
    }
    std::sort(axes.begin(), axes.end());
    axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
    return axes;
}

bool TileAxes::is_contiguous(Id load, AxisId axis) const {
    const Access& access = as<Load>(kernel_, load)->access;
    return access.row < 0 && stride_along(access.strides, axis).is_one();
}

bool TileAxes::is_few(AxisId axis) const {
    const Dim& extent = kernel_.axes[std::size_t(axis)].extent;
    return extent.is_static() && 2 * extent.value() <= target::kLanes;
}

/// 0 for the axis of the task, 1 for that of the outermost loop over tiles, ...; a few positions
/// come last.
int TileAxes::depth(AxisId axis, Id loop) const {
    constexpr int kLast = 1 << 20;
    if (is_few(axis)) return kLast;
    if (axis == plan_.par) return 0;
    if (auto found = plan_.depths.find(axis); found != plan_.depths.end()) return found->second;
    std::vector<Id> loops;
    if (loop >= 0) loops = positions_[std::size_t(loop)].loops, loops.push_back(loop);
    for (std::size_t i = 0; i < loops.size(); ++i)
        if (as<Loop>(kernel_, loops[i])->axis == axis) return int(i) + 1;
    return kLast;
}

Place2 TileAxes::place(const std::vector<AxisId>& axes, Id loop) const {
    if (axes.empty()) return {};
    if (axes.size() == 1) return {-1, axes[0]};
    AxisId lane = -1;
    for (AxisId axis : axes)
        if (!plan_.is_tiled(axis)) lane = axis;
    if (lane < 0)
        lane = *std::min_element(axes.begin(), axes.end(), [&](AxisId a, AxisId b) {
            return depth(a, loop) < depth(b, loop);
        });
    AxisId row = -1;
    for (AxisId axis : axes)
        if (axis != lane) row = axis;
    return {row, lane};
}

Place2 TileAxes::place(const Store& store, Id loop) const {
    const std::vector<AxisId> axes = of(store.access);
    Place2 result = place(axes, loop);
    const AxisId row = result.row;
    if (row < 0 || kernel_.axes[std::size_t(row)].extent.is_one()) return result;
    for (const Stride& stride : store.access.strides)
        if (stride.axis == row && stride.stride.is_one()) std::swap(result.row, result.lane);
    return result;
}

Id TileAxes::home(Id id) const {
    auto load = as<Load>(kernel_, id);
    const std::vector<AxisId> axes = of(load ? load->access : as<Store>(kernel_, id)->access);
    const std::vector<Id>& loops = positions_[std::size_t(id)].loops;
    for (std::size_t i = loops.size(); i-- > 0;) {
        const Loop& loop = *as<Loop>(kernel_, loops[i]);
        if (loop.kind == LoopKind::tiles &&
            std::find(axes.begin(), axes.end(), loop.axis) != axes.end())
            return loops[i];
    }
    return -1;
}

bool TileAxes::takes_last_first() const {
    if (plan_.par < 0) return false;
    return std::any_of(kernel_.nodes.begin(), kernel_.nodes.end(), [&](const Node& node) {
        auto loop = std::get_if<Loop>(&node.operation);
        return loop && loop->upper >= 0 && has(loop->upper, plan_.par);
    });
}

void TileAxes::check(Id id) const {
    const Node& node = kernel_.nodes[std::size_t(id)];
    const auto refuse = [&](const std::string& reason) { throw TileRefusal{reason}; };
    const Access* access = nullptr;
    if (auto load = as<Load>(kernel_, id)) access = &load->access;
    if (auto store = as<Store>(kernel_, id)) access = &store->access;
    std::vector<AxisId> axes = node.axes;
    if (access) {
        if (access->row >= 0 && as<Store>(kernel_, id)) refuse("a store to a row that is picked");
        const DType memory = kernel_.buffers[std::size_t(access->buffer)].dtype;
        if (auto store = as<Store>(kernel_, id); store && store->accumulate && is_half(memory))
            refuse("a sum in memory of " + std::string(name_of(memory)));
        axes = of(*access);
        if (axes.size() > (access->row >= 0 ? 3 : 2))  // rows that are picked stay where they lie
            refuse("a loaded or stored tile of more than two axes");
    }
    const bool kept = as<Reduce>(kernel_, id) || (as<Carried>(kernel_, id) && !node.axes.empty());
    if (kept && node.dtype != DType::f32)
        refuse("a reduced or carried tile of " + std::string(name_of(node.dtype)));
    for (AxisId axis : axes) {
        if (plan_.is_tiled(axis)) continue;
        const kernel::Axis& whole = kernel_.axes[std::size_t(axis)];
        if (!whole.extent.is_static())
            refuse("the axis " + whole.name + ", which has neither a loop nor a static size");
        if (whole.extent.value() > plan_.target.widest)
            refuse("the axis " + whole.name + " of " + std::to_string(whole.extent.value()) +
                   " elements, more than " + std::to_string(plan_.target.widest));
    }
    if (auto loop = as<Loop>(kernel_, id); loop && loop->kind == LoopKind::tiles) {
        for (Id bound : {loop->lower, loop->upper})
            if (bound >= 0 && kernel_.nodes[std::size_t(bound)].axes.size() > 1)
                refuse("a bound of two axes");
        for (Id inner : loop->body)
            if (auto other = as<Loop>(kernel_, inner); other && leaves_types(other->kind))
                refuse("a loop of points inside of one over tiles");
    }
}

}  // namespace fovea::emit
