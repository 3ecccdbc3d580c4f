// Values of a loop's step that are larger than their operands: broadcasts.
#pragma once

#include <vector>

#include "codegen/graph/graph.h"

namespace fovea {

/// Whether node `id` is a broadcast, or an elementwise op each of whose inputs grows itself or has
/// fewer axes longer than 1. Only inputs that vary from step to step (`varies`, by node) count.
bool grows(const Graph& step, int id, const std::vector<bool>& varies);

}  // namespace fovea
