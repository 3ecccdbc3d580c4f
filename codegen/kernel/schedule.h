// Schedules: how a target runs a kernel, as data, chosen from static sizes and strides alone.
#pragma once

#include <string>
#include <vector>

#include "codegen/kernel/kernel.h"

namespace fovea::kernel {

/// A contraction on the CPU: register tiles of tile_rows x 16 * tile_vectors elements.
struct ContractionSchedule {
    AxisId rows = -1, lanes = -1;  // -1: the product has no such axis
    std::vector<AxisId> points;    // par axes that are walked outside the tiles
    Id a = -1, b = -1;             // the operand with the rows, the one with the lanes
    int tile_rows = 8, tile_vectors = 1;
    bool in_panels = false;  // whether b's columns lie in panels
};

/// The columns of the panels that weights with so many columns are laid out in.
int panel_columns(const Dim& columns);

/// For a kernel with one contraction of two loads; InternalError otherwise. The lanes go along the
/// axis with stride 1 in the first store, else in an operand.
ContractionSchedule contraction_schedule(const Kernel& kernel);

/// `rows i, lanes j, tile 8 x 2 vectors`
std::string print(const Kernel& kernel, const ContractionSchedule& schedule);

}  // namespace fovea::kernel
