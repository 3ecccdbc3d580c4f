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

/// For a contraction of two loads, the kernel's last one unless another is given; InternalError for
/// other kernels. The columns go along an operand's panels, where it lies in such, else along the
/// axis with stride 1 in the first store, else in an operand.
ContractionRoles contraction_roles(const Kernel& kernel, Id contract = -1);

}  // namespace fovea::kernel
