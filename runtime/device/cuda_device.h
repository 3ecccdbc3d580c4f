// A GPU as a device, through the CUDA driver.
#pragma once

#include <memory>
#include <string>

#include "device.h"

namespace fovea::runtime::device {

/// The first GPU that the driver shows (CUDA_VISIBLE_DEVICES chooses others). UserError, in one
/// sentence, where there is no driver or no GPU.
std::shared_ptr<Device> open_cuda(const std::string& library = "libcuda.so.1");

/// Whether a GPU of this compute capability (90 for 9.0) runs PTX for an architecture, `sm_80`:
/// those from it on do, but for one whose name ends in `a`, which is for that capability alone.
bool runs(int capability, const std::string& architecture);

}  // namespace fovea::runtime::device
