// A planned model for devices: its PTX with the tables that launch it, and its description without
// code for this machine's cores.
#pragma once

#include "codegen/emit/ptx_module.h"
#include "codegen/plan/plan.h"
#include "runtime/device/code.h"
#include "runtime/program.h"

namespace fovea::tool {

/// The code of a model; each module has the kernels of the model in their order.
runtime::device::Code device_code(const plan::Model& model,
                                  const std::vector<emit::PtxModule>& modules);

/// The PTX of all kernels for each of `architectures`, as code. UserError where a kernel has no
/// form in PTX, or this build of fovea writes none.
runtime::device::Code compile_for_devices(const plan::Model& model,
                                          const std::vector<std::string>& architectures);

/// What a generated file says about its model. Programs check their inputs, and have no code.
runtime::Model description_of(const plan::Model& model);

}  // namespace fovea::tool
