// Kernels whose products take bfloat16.
#pragma once

#include "codegen/kernel/kernel.h"

namespace fovea::test {

/// The same with every product's operands rounded to bfloat16.
inline kernel::Kernel in_bfloat16(kernel::Kernel kernel) {
    kernel.name += "_bfloat16";
    for (kernel::Node& node : kernel.nodes)
        if (auto contract = std::get_if<kernel::Contract>(&node.operation))
            contract->bfloat16 = true;
    return kernel;
}

}  // namespace fovea::test
