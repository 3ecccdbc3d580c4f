// A model with kernels of PTX written by hand, for the tests of devices.
#pragma once

#include <memory>

#include "runtime/device/code.h"
#include "runtime/device/device.h"
#include "runtime/program.h"

namespace fovea::test {

/// Dims batch, in. Parameter scale [in]; inputs x [batch, in]. Program forward:
///   squares [in] = scale * scale                   (prepared)
///   y [batch, in] = x * squares
///   sums [batch + 1, in]: scale, then a row of x more in each row  (a scan)
///   scale.grad [in] = y's first row * scale
///   key i32 [2] = seed, step
runtime::Model scaled_model();

/// Its kernels for sm_80 and sm_90. With `too_far` the kernel of y writes behind its tensor.
std::shared_ptr<runtime::device::Code> scaled_code(bool too_far = false);

/// PTX of other kernels by the names of some of the model's: they give other results.
std::string other_text();

/// Runs the model at several sizes, with parameters that change, and checks what it gives.
void check_scaled_model(std::shared_ptr<runtime::device::Device> device,
                        std::shared_ptr<const runtime::device::Code> code = scaled_code());

}  // namespace fovea::test
