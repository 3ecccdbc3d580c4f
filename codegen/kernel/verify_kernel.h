// What a legal kernel is, executable.
#pragma once

#include "codegen/kernel/kernel.h"

namespace fovea::kernel {

/// Throws InternalError, with the kernel's name and the node, unless
/// - every id, axis and buffer exists, and each node is in exactly one block;
/// - operands are made before their use, in the same block or one around it;
/// - an axis has at most one loop, and is used only inside it;
/// - the axes and types of tiles are what `tile_axes` and `tile_dtype` say;
/// - axes of reductions and contractions are in the operand's type;
/// - the axes of a stored tile are among those of its access, and only written buffers are stored;
/// - its loops are those of its form;
/// - rows of gathers are i32 tiles, conditions are booleans.
void verify_kernel(const Kernel& kernel);

}  // namespace fovea::kernel
