// The choices for contractions on the CPU.
#include "codegen/kernel/schedule.h"

#include <algorithm>

#include "codegen/base/error.h"

namespace fovea::kernel {
namespace {

std::int64_t stride_is_one(const Access& access, AxisId axis) {
    for (const Stride& stride : access.strides)
        if (stride.axis == axis) return stride.stride.is_one();
    return false;
}

/// The axes of a tile without the contracted ones.
std::vector<AxisId> outer_axes(const Kernel& kernel, Id id, const std::vector<AxisId>& contracted) {
    std::vector<AxisId> axes = kernel.nodes[std::size_t(id)].axes;
    std::erase_if(axes, [&](AxisId axis) {
        return std::find(contracted.begin(), contracted.end(), axis) != contracted.end();
    });
    return axes;
}

constexpr int kLanes = 16;

/// How many vectors wide a panel is: two, where they fit the columns. A row that streams weights
/// reads narrow panels faster than wide ones.
int panel_vectors(const Dim& columns) {
    if (!columns.is_static()) return 2;
    const std::int64_t width = columns.value();
    if (width <= kLanes) return 1;
    return width % 32 != 0 && width % 48 == 0 ? 3 : 2;
}

/// The panel of an operand whose `axis` lies in panels, or 0.
int panel_along(const Access& access, AxisId axis) {
    for (const Stride& stride : access.strides)
        if (stride.axis == axis) return stride.panel;
    return 0;
}

/// Tiles hold 8 to 24 accumulators, enough to hide how long a multiply-add takes. They are as wide
/// as the panels of b; where b lies otherwise and is wide, twice as wide: all of a is read again
/// for each panel.
void choose_tile(const Kernel& kernel, ContractionSchedule& schedule) {
    if (schedule.lanes < 0) return;
    const Dim columns = kernel.axes[std::size_t(schedule.lanes)].extent;
    const int panel = panel_along(as<Load>(kernel, schedule.b)->access, schedule.lanes);
    schedule.in_panels = panel > 0;
    schedule.tile_vectors = schedule.in_panels ? panel / kLanes : panel_vectors(columns);
    constexpr int kWide = 256;
    if (schedule.in_panels || !columns.is_static() || columns.value() < kWide) return;
    schedule.tile_vectors = 4;
    schedule.tile_rows = 6;
}

}  // namespace

int panel_columns(const Dim& columns) { return kLanes * panel_vectors(columns); }

ContractionSchedule contraction_schedule(const Kernel& kernel) {
    const Contract* contract = nullptr;
    const Store* store = nullptr;
    for (Id id = 0; id < Id(kernel.nodes.size()); ++id) {
        if (auto found = as<Contract>(kernel, id)) {
            if (contract) throw InternalError("kernel " + kernel.name + " has two contractions");
            contract = found;
        }
        if (auto found = as<Store>(kernel, id); found && !store) store = found;
    }
    if (!contract || !store || !as<Load>(kernel, contract->a) || !as<Load>(kernel, contract->b))
        throw InternalError("kernel " + kernel.name + " is not a stored contraction of two loads");
    ContractionSchedule schedule;
    schedule.a = contract->a, schedule.b = contract->b;
    std::vector<AxisId> i = outer_axes(kernel, schedule.a, contract->axes);
    std::vector<AxisId> j = outer_axes(kernel, schedule.b, contract->axes);
    for (AxisId axis : i)
        if (std::find(j.begin(), j.end(), axis) != j.end())
            throw InternalError("kernel " + kernel.name + ": axis " +
                                kernel.axes[std::size_t(axis)].name +
                                " is in both operands; make it an `each` axis");
    const auto take = [&](std::vector<AxisId>& from, const Access& like) {
        for (AxisId axis : from)
            if (schedule.lanes < 0 && stride_is_one(like, axis)) schedule.lanes = axis;
        return schedule.lanes >= 0;
    };
    bool lanes_in_a = false;
    if (!take(j, store->access)) lanes_in_a = take(i, store->access);
    if (schedule.lanes < 0 && !take(j, as<Load>(kernel, schedule.b)->access))
        lanes_in_a = take(i, as<Load>(kernel, schedule.a)->access);
    if (schedule.lanes < 0 && (!j.empty() || !i.empty())) {
        lanes_in_a = j.empty();
        schedule.lanes = (lanes_in_a ? i : j).back();
    }
    if (lanes_in_a) std::swap(i, j), std::swap(schedule.a, schedule.b);
    std::erase(j, schedule.lanes);
    if (!i.empty()) schedule.rows = i.back(), i.pop_back();
    schedule.points = i;
    schedule.points.insert(schedule.points.end(), j.begin(), j.end());
    choose_tile(kernel, schedule);
    return schedule;
}

std::string print(const Kernel& kernel, const ContractionSchedule& schedule) {
    const auto name = [&](AxisId axis) {
        return axis < 0 ? std::string("none") : kernel.axes[std::size_t(axis)].name;
    };
    std::string text = "rows " + name(schedule.rows) + ", lanes " + name(schedule.lanes);
    for (AxisId axis : schedule.points) text += ", point " + name(axis);
    return text + ", tile " + std::to_string(schedule.tile_rows) + " x " +
           std::to_string(schedule.tile_vectors) + " vectors";
}

}  // namespace fovea::kernel
