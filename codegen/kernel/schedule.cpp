// The choices for contractions on the CPU.
#include "codegen/kernel/schedule.h"

#include <algorithm>
#include <cstdlib>

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

Dim stride_of(const Access& access, AxisId axis) {
    for (const Stride& stride : access.strides)
        if (stride.axis == axis && !stride.panel) return stride.stride;
    return 0;
}

/// Whether what lies `apart` lies among the positions along `axis`, which have that stride.
bool lies_among(const Kernel& kernel, const Dim& apart, AxisId axis, std::int64_t stride = 1) {
    const Dim& extent = kernel.axes[std::size_t(axis)].extent;
    const bool is_near = apart.is_static() && apart.value() != 0;
    return is_near && (!extent.is_static() || std::abs(apart.value()) < extent.value() * stride);
}

/// How far apart the steps of a sum may be in memory that vectors are loaded along.
constexpr std::int64_t kMostSteps = 4;

/// Columns that are one tile of what is read along a sum.
constexpr std::int64_t kMostColumns = kLanes / 2;
/// Terms of an innermost sum, beside another sum, from which on it is read along.
constexpr std::int64_t kLongSum = 256;

/// The columns of a tile of what is read along a sum; 0: there is no such number.
int columns_of_tile(const Dim& columns) {
    if (!columns.is_static()) return 0;
    const std::int64_t count = columns.value();
    if (count <= kMostColumns) return int(count);
    for (int width : {4, 3, 2})
        if (count % width == 0) return width;
    return 0;
}

/// The last one.
const Contract& contract_of(const Kernel& kernel) {
    const Contract* contract = nullptr;
    for (Id id = 0; id < Id(kernel.nodes.size()); ++id)
        if (auto found = as<Contract>(kernel, id)) contract = found;
    return *contract;
}

/// How the columns, and what is summed, lie in b: sums of windows are its columns moved by a few
/// elements, and few columns are its innermost sum moved by a few.
Reading reading_of(const Kernel& kernel, const ContractionRoles& roles) {
    const Contract* const contract = &contract_of(kernel);
    const bool is_plain = contract->blocks < 0 && !is_half(contract->factors);
    if (!is_plain || roles.columns < 0) return Reading::packed;
    if (kernel.buffers[std::size_t(as<Load>(kernel, roles.b)->access.buffer)].storage)
        return Reading::packed;
    const Access &a = as<Load>(kernel, roles.a)->access, &b = as<Load>(kernel, roles.b)->access;
    const AxisId inner = contract->axes.back();
    const Dim& columns = kernel.axes[std::size_t(roles.columns)].extent;
    const bool has_few = columns.is_static() && columns.value() <= kMostColumns;
    const Dim step = stride_of(b, inner);
    const bool is_along = stride_of(a, inner).is_one() && step.is_static() && step.value() > 0 &&
                          step.value() <= kMostSteps;
    const Dim apart = stride_of(b, roles.columns);
    const Dim& length = kernel.axes[std::size_t(inner)].extent;
    const bool is_short = length.is_static() && has_few && length.value() < columns.value();
    if (has_few && !is_short && is_along && lies_among(kernel, apart, inner, step.value()) &&
        lies_among(kernel, step, roles.columns, apart.value()))
        return Reading::along;
    // A panel of such a sum is long, and lies across memory in both operands.
    const bool is_long = contract->axes.size() > 1 && length.is_static() &&
                         length.value() >= kLongSum && roles.rows >= 0;
    if (is_long && is_along && step.is_one() && columns_of_tile(columns) > 0) return Reading::along;
    if (!stride_of(b, roles.columns).is_one()) return Reading::packed;
    for (AxisId axis : contract->axes)
        if (lies_among(kernel, stride_of(b, axis), roles.columns)) return Reading::in_place;
    return Reading::packed;
}

/// Tiles of the columns of a chunk, `vectors` at most: as few panels as registers of 32 vectors
/// allow, for each of which all of a is read, and equally wide ones.
void tile_chunk(ContractionSchedule& schedule, int vectors) {
    constexpr int kRegisters = 32, kWidest = 5;
    const int panels = (vectors + kWidest - 1) / kWidest, width = (vectors + panels - 1) / panels;
    schedule.tile_vectors = width;
    // The sums, the columns of a step, and an element of a row.
    schedule.tile_rows = std::min(schedule.tile_rows, (kRegisters - width - 1) / width);
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
    schedule.reading = reading_of(kernel, roles);
    if (schedule.reading == Reading::along) schedule.tile_columns = columns_of_tile(columns);
    schedule.tile_vectors =
        schedule.in_panels ? panel / kLanes : panel_vectors(columns, target.lowering);
    if (kernel.buffers[std::size_t(as<Load>(kernel, schedule.b)->access.buffer)].storage) {
        schedule.is_stored = true;
        schedule.tile_vectors = 1;
        return schedule;
    }
    const Contract& contract = contract_of(kernel);
    const auto chunk = int(kernel.axes[std::size_t(schedule.columns)].most / kLanes);
    if (chunk > 0 && !schedule.in_panels && !is_half(contract.factors)) tile_chunk(schedule, chunk);
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
    if (schedule.reading == Reading::along)
        return text + ", " + std::to_string(schedule.tile_columns) +
               " in a tile, vectors along the sum";
    text += ", tile " + std::to_string(schedule.tile_rows) + " x " +
            std::to_string(schedule.tile_vectors) + " vectors";
    return text + (schedule.reading == Reading::in_place ? ", windows in place" : "");
}

}  // namespace fovea::kernel
