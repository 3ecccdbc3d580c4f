// What kind of program a kernel is, which decides the skeleton that it is written into.
#pragma once

#include <vector>

#include "codegen/kernel/kernel.h"

namespace fovea::emit {

enum class FormKind {
    rows,         // points outside, passes over the axes of one tile inside
    contraction,  // a register-tiled product with an epilogue
    scatter,      // rows added to a table in order
};

/// A kernel with its loops flattened: `nodes` are all but the loops, in order.
struct Form {
    FormKind kind = FormKind::rows;
    std::vector<kernel::AxisId> each, par, seq;
    std::vector<kernel::AxisId> free;  // axes of tiles without a loop
    std::vector<kernel::Id> nodes;
    kernel::Id contract = -1;
};

/// Throws InternalError when two loops stand side by side.
Form find_form(const kernel::Kernel& kernel);

}  // namespace fovea::emit
