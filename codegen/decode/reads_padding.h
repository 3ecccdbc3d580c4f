// Whether it matters how far the source of a model is padded.
#pragma once

#include "codegen/graph/graph.h"

namespace fovea {

/// Whether what a model computes of a source, its input `src` [batch, length], depends on how far
/// that is padded: an op computes with several of its positions, as a loop over them does, or with
/// their number. Attention does so only with those that its mask shows. False where the length is
/// fixed, or where there is no source.
bool reads_padding(const Graph& model);

}  // namespace fovea
