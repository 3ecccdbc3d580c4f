// Whether it matters how far a source is padded.
#pragma once

#include "../program.h"

namespace fovea::runtime {

/// Whether the model's encoder runs over padding: its program `encode` is told no lengths. Sources
/// are then padded to the steps of the training wherever they are read.
bool reads_padding(const Model& model);

}  // namespace fovea::runtime
