// How matrices lie in the registers of a warp: instructions against their definition.
#pragma once

#include <vector>

#include "tools/bundle/probe.h"
#include "tools/fovea/device/targets.h"
#include "tools/fovea/verify/verify_kernels.h"

namespace fovea::tool {

/// `mma.sync` of bfloat16, float16 and tf32 and `ldmatrix`, straight and transposed, on small whole
/// numbers: every element must lie where the PTX manual says (figures of mma.m16n8k16, mma.m16n8k8
/// and ldmatrix); then the probes of verify_tiles.h. What else kernels use is checked by the
/// kernels.
std::vector<bundle::Probe> layout_probes();

/// A row for each that the target runs, with an error of 0 where all is right.
std::vector<VerifyRow> verify_layouts(const Target& target);

}  // namespace fovea::tool
