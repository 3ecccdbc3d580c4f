// How tiles lie in shared memory on sm_90: products of groups of warps and copies of boxes against
// their definition.
#pragma once

#include <vector>

#include "runtime/device/device.h"
#include "tools/fovea/verify_kernels.h"

namespace fovea::tool {

/// `wgmma` of bfloat16 and tf32 on small whole numbers, with operands whose neighbours lie along
/// the depth or, of bfloat16, across it, in rows of 128 swizzled bytes, and with the left one in
/// registers: a row for each, with an error of 0 where every element lies where the PTX manual says
/// ("Matrix Descriptor Format", "Strides"). For devices that run sm_90a.
std::vector<VerifyRow> verify_products(runtime::device::Device& device);

/// `cp.async.bulk.tensor` with each swizzle, over the edges of a tensor, and of floats that it
/// rounds to tf32, the same ("Swizzling
/// Modes"). For devices that run sm_90.
std::vector<VerifyRow> verify_boxes(runtime::device::Device& device);

}  // namespace fovea::tool
