// A planned model for devices: its PTX with the tables that launch it, and its description without
// code for this machine's cores.
#pragma once

#include "codegen/emit/nvptx/emit_ptx.h"
#include "codegen/emit/ptx_module.h"
#include "codegen/plan/plan.h"
#include "runtime/device/code.h"
#include "runtime/program.h"

namespace fovea::tool {

/// The model with the kernels of an optimizer behind its own, and programs of them, where it has a
/// program `training_step`; as it is otherwise. Its dims hold the sizes of chunks, too. Not for
/// Emitters: these programs have no tensors.
plan::Model with_optimizer(const plan::Model& model);

/// The code of a model; each module has the kernels of the model in their order.
runtime::device::Code device_code(const plan::Model& model,
                                  const std::vector<emit::PtxModule>& modules);

/// As FOVEA_CHECK_WAITS=SECONDS says, else none. UserError where it is no number of seconds.
emit::PtxOptions ptx_options();

/// The PTX of all kernels for each of `architectures`, at the same time. UserError as below.
std::vector<emit::PtxModule> emit_modules(const plan::Model& model,
                                          const std::vector<std::string>& architectures,
                                          const emit::PtxOptions& options = ptx_options());

/// The same as code, with the kernels of an optimizer. UserError where a kernel has no form in PTX,
/// or this build of fovea writes none.
runtime::device::Code compile_for_devices(const plan::Model& model,
                                          const std::vector<std::string>& architectures,
                                          const emit::PtxOptions& options = ptx_options());

/// What a generated file says about its model. Programs check their inputs, and have no code.
runtime::Model description_of(const plan::Model& model);

}  // namespace fovea::tool
