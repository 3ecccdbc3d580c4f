// The choices for contractions on the CPU.
#include "codegen/kernel/schedule.h"

namespace fovea::kernel {
namespace {

using target::kLanes;

/// How many vectors wide a panel is. A row that streams weights reads narrow panels faster than
/// wide ones.
int panel_vectors(const Dim& columns, const target::Lowering& target) {
    const int usual = target.panel_vectors, other = target.other_panel_vectors;
    if (!columns.is_static()) return usual;
    const std::int64_t width = columns.value();
    if (width <= kLanes) return 1;
    return width % (kLanes * usual) != 0 && width % (kLanes * other) == 0 ? other : usual;
}

/// The panel of an operand whose `axis` lies in panels, or 0.
int panel_along(const Access& access, AxisId axis) {
    for (const Stride& stride : access.strides)
        if (stride.axis == axis) return stride.panel;
    return 0;
}

}  // namespace

int panel_columns(const Dim& columns, const target::Lowering& target) {
    return kLanes * panel_vectors(columns, target);
}

/// Tiles hold enough accumulators to hide how long a multiply-add takes. They are as wide as the
/// panels of b; where b lies otherwise and is wide, wider: all of a is read again for each panel.
ContractionSchedule contraction_schedule(const Kernel& kernel, const target::Target& target) {
    const ContractionRoles roles = contraction_roles(kernel);
    ContractionSchedule schedule{roles, target.cpu.contraction.rows, 1};
    if (schedule.columns < 0) return schedule;
    const Dim columns = kernel.axes[std::size_t(schedule.columns)].extent;
    const int panel = panel_along(as<Load>(kernel, schedule.b)->access, schedule.columns);
    schedule.in_panels = panel > 0;
    schedule.tile_vectors =
        schedule.in_panels ? panel / kLanes : panel_vectors(columns, target.lowering);
    const bool is_wide = columns.is_static() && columns.value() >= target.cpu.contraction.wide;
    if (schedule.in_panels || !is_wide) return schedule;
    schedule.tile_vectors = target.cpu.contraction.wide_vectors;
    schedule.tile_rows = target.cpu.contraction.wide_rows;
    return schedule;
}

std::string print(const Kernel& kernel, const ContractionSchedule& schedule) {
    const auto name = [&](AxisId axis) {
        return axis < 0 ? std::string("none") : kernel.axes[std::size_t(axis)].name;
    };
    std::string text = "rows " + name(schedule.rows) + ", lanes " + name(schedule.columns);
    for (AxisId axis : schedule.points) text += ", point " + name(axis);
    return text + ", tile " + std::to_string(schedule.tile_rows) + " x " +
           std::to_string(schedule.tile_vectors) + " vectors";
}

}  // namespace fovea::kernel
