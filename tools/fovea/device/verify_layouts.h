// How matrices lie in the registers of a warp: instructions against their definition.
#pragma once

#include <vector>

#include "tools/fovea/device/targets.h"
#include "tools/fovea/verify_kernels.h"

namespace fovea::tool {

/// `mma.sync` of bfloat16 and tf32 and `ldmatrix`, straight and transposed, on small whole numbers:
/// a row for each, with an error of 0 where every element lies where the PTX manual says (figures
/// of mma.m16n8k16, mma.m16n8k8 and ldmatrix); and where the device has them, the tiles of
/// verify_tiles.h. What else kernels use is checked by the kernels.
std::vector<VerifyRow> verify_layouts(const Target& target);

}  // namespace fovea::tool
