// The weights that a program runs with, as every command and every interface reads them.
#pragma once

#include <string>

#include "../program.h"
#include "../safetensors.h"

namespace fovea::runtime {

/// `read_weights` for a model. A folder's `config.json` is compared with the settings that the
/// model was built with (`VerifiedConfigs`), before any of the weights is read.
SafetensorsFile read_checkpoint(const Model& model, const std::string& weights);

}  // namespace fovea::runtime
