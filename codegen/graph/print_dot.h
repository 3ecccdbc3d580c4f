// A graph as Graphviz text, modules as nested boxes.
#pragma once

#include <string>

#include "codegen/graph/graph.h"

namespace fovea {

std::string print_dot(const Graph& graph);

}  // namespace fovea
