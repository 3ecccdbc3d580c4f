// Whether it matters how far a source is padded.
#pragma once

#include "../program.h"

namespace fovea::runtime {

/// Whether what the model makes of a source depends on how far it is padded, as where a loop runs
/// over the padding. Sources are then padded to the steps of the training wherever they are read.
bool reads_padding(const Model& model);

}  // namespace fovea::runtime
