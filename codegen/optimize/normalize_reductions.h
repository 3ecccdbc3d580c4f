// Gives reductions one of two forms.
#pragma once

#include "codegen/graph/graph.h"

namespace fovea {

/// After it a reduction is over the last axis alone, or over axes without the last one.
Graph normalize_reductions(const Graph& graph);

}  // namespace fovea
