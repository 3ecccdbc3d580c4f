// Operands of a contraction that the GPU copies in boxes of their tensors (sm_90).
#pragma once

#include <optional>
#include <vector>

#include "codegen/emit/ptx_module.h"

namespace fovea::emit::nvptx {

struct ContractionPlan;
struct OperandPlan;

/// An operand as a tensor, and what each axis of that tensor is in the kernel.
struct OperandBoxes {
    /// Number along the depth, all contracted axes as one.
    static constexpr kernel::AxisId kDepth = -1;

    TensorMap map;
    std::vector<kernel::AxisId> axes;  // of `map`, in its order
};

/// The boxes that bring a tile of `tile_outer` positions and the plan's depth as wgmma reads it: in
/// rows of 128 bytes that are swizzled, so many along the outer axis in one box where these lie
/// side by side; floats are rounded to tf32. None where the operand does not lie in memory as such
/// a tensor.
std::optional<OperandBoxes> find_boxes(const kernel::Kernel& kernel, const ContractionPlan& plan,
                                       const OperandPlan& operand, int tile_outer);

}  // namespace fovea::emit::nvptx
