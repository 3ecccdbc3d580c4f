// The format of the weights and checkpoints that programs write, as their `__metadata__` says it.
#pragma once

#include "../safetensors.h"

namespace fovea::runtime {

/// Raised by what older programs would read wrongly. Files that say nothing are of format 1.
inline constexpr int kWeightsFormat = 1;

/// What files with weights say of it.
Metadata weights_format();

/// UserError where the file is of a newer format than this program's, or says something that is no
/// format.
void verify_weights_format(const SafetensorsFile& file);

}  // namespace fovea::runtime
