// Roles of the axes and operands of a product.
#pragma once

#include <vector>

#include "codegen/kernel/kernel.h"

namespace fovea::kernel {

struct ContractionRoles {
    AxisId rows = -1, columns = -1;  // -1: the product has no such axis
    std::vector<AxisId> points;      // par axes that are walked outside of these
    Id a = -1, b = -1;               // the operand with the rows, the one with the columns
};

/// For a kernel with one contraction of two loads; InternalError otherwise. The columns go along an
/// operand's panels, where it lies in such, else along the axis with stride 1 in the first store,
/// else in an operand.
ContractionRoles contraction_roles(const Kernel& kernel);

}  // namespace fovea::kernel
