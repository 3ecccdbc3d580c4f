// Weights as people have them: one file, or the folder of a checkpoint.
#pragma once

#include <string>

#include "../safetensors.h"

namespace fovea::runtime {

/// Weights in a safetensors file or in the folder of a checkpoint, as transformers writes it:
/// `model.safetensors`, or the shards that `model.safetensors.index.json` lists. They are mapped:
/// bytes are read when they are used. UserError with the path, what was expected and what is there.
SafetensorsFile read_weights(const std::string& path);

}  // namespace fovea::runtime
