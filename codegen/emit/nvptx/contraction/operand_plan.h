// How the operands of contractions come into shared memory, chosen from how they lie in memory.
#pragma once

#include "codegen/emit/nvptx/contraction/contraction_plan.h"

namespace fovea::emit::nvptx {

/// The plan of what `load` loads, with positions along `outer`, in a plan whose form, factors and
/// contracted axes are chosen.
OperandPlan plan_operand(const kernel::Kernel& kernel, const ContractionPlan& plan, kernel::Id load,
                         kernel::AxisId outer);

/// The one stride of an access along an axis; null where there are none or several.
const kernel::Stride* stride_along(const kernel::Access& access, kernel::AxisId axis);

/// Whether groups of `width` neighbours along the axis, the first at a multiple of it, are whole,
/// lie side by side, and start at multiples of it in memory.
bool lies_in_groups(const kernel::Kernel& kernel, const kernel::Access& access, kernel::AxisId axis,
                    int width);

}  // namespace fovea::emit::nvptx
