// Schedules: how a target runs a kernel, as data, chosen from static sizes and strides alone.
#pragma once

#include <string>

#include "codegen/kernel/analysis/contraction_roles.h"
#include "codegen/target/target.h"

namespace fovea::kernel {

/// How a contraction on the CPU reads b.
enum class Reading {
    packed,    // where it lies, or in panels that are copied of it
    in_place,  // windows: where they lie, since copies of them would be larger
    along,  // the lanes along the innermost sum of both operands: windows of few elements, and
    // long sums over several axes
};

/// A contraction on the CPU: register tiles of tile_rows x 16 * tile_vectors elements, the lanes
/// along the columns, or, where it is read `along` a sum, of tile_columns and as many rows as fit.
struct ContractionSchedule : ContractionRoles {
    int tile_rows = 0, tile_vectors = 0;
    bool in_panels = false;  // whether b's columns lie in panels
    Reading reading = Reading::packed;
    bool is_stored = false;  // whether b is a weight of whole numbers, in panels of one vector
    int tile_columns = 0;  // of what is read along a sum: a divisor of the columns
};

/// The columns of the panels that weights with so many columns are laid out in.
int panel_columns(const Dim& columns, const target::Lowering& target);

/// For a kernel that has `contraction_roles`.
ContractionSchedule contraction_schedule(const Kernel& kernel, const target::Target& target);

/// `rows i, lanes j, tile 8 x 2 vectors`
std::string print(const Kernel& kernel, const ContractionSchedule& schedule);

}  // namespace fovea::kernel
