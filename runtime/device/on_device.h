// A model whose programs run on a device.
#pragma once

#include <memory>

#include "../program.h"
#include "code.h"
#include "device.h"

namespace fovea::runtime::device {

/// The same model, to be used as any other: instances of its programs have their memory on the
/// device, copy parameters (when they have changed) and inputs there before a run, and the outputs
/// back after it. Buffers and kernels are those of the code; the rest is the model's. Loads the
/// module that suits the device best; UserError where none does, or where there is no code for one
/// of the programs.
Model on_device(const Model& model, std::shared_ptr<Device> device,
                std::shared_ptr<const Code> code);

}  // namespace fovea::runtime::device
