// The option `--device` of built programs.
#pragma once

#include <string>

#include "../options.h"
#include "../program.h"

namespace fovea::runtime::device {

OptionSpec device_option();

/// The model as it runs on `device`, `cpu` or `cuda`. UserError, in one sentence, for other names,
/// where there is no driver or no GPU, and where the program holds no kernels for it.
Model choose_device(const Model& model, const std::string& device);

}  // namespace fovea::runtime::device
