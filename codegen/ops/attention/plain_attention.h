// Fused attention in plain ops: what its kernels are checked against.
#pragma once

#include "codegen/graph/op_def.h"

namespace fovea {

/// The result that a node of Op::fused_attention gives.
Tensor plain_attention(const Expansion& e);

}  // namespace fovea
