// How tiles lie in shared memory on sm_90: products of groups of warps, copies of boxes, and warps
// that give registers to others, against their definition.
#pragma once

#include <vector>

#include "tools/bundle/probe.h"

namespace fovea::tool {

/// `wgmma` of bfloat16, float16 and tf32 on small whole numbers, with operands whose neighbours lie
/// along the depth or, of halves, across it, in rows of 128 swizzled bytes, and with the left one
/// in registers: every element must lie where the PTX manual says ("Matrix Descriptor Format",
/// "Strides"). For devices that run sm_90a.
std::vector<bundle::Probe> product_probes();

/// `cp.async.bulk.tensor` with each swizzle, over the edges of a tensor, and of floats that it
/// rounds to tf32, the same ("Swizzling Modes"). For devices that run sm_90.
std::vector<bundle::Probe> box_probes();

/// `setmaxnreg`: a group of four warps gives registers back, and two groups take more, with a
/// barrier in shared memory between what the first writes and the others read. For devices that
/// run sm_90a.
std::vector<bundle::Probe> register_probes();

}  // namespace fovea::tool
