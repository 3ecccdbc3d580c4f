// A graph as JSON: {"nodes": [{"id", "op", "inputs", "dtype", "shape", "module", "source", …}]}.
#pragma once

#include <string>

#include "codegen/graph/graph.h"

namespace fovea {

std::string print_json(const Graph& graph);

}  // namespace fovea
