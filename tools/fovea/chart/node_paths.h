// Which module of a picture each node of a graph is drawn in.
#pragma once

#include <string>
#include <vector>

#include "codegen/graph/graph.h"

namespace fovea::tool {

/// The names of modules, from the outermost in.
using ModulePath = std::vector<std::string>;

/// The path of each node that `shown` has; of the others, empty. Nodes that say no module, as those
/// of operators do, are of one that their neighbours are of. Gradients are of the modules whose
/// values they are of.
std::vector<ModulePath> node_paths(const Graph& graph, const std::vector<bool>& shown);

/// `a.b.0` as its parts.
ModulePath module_path(const std::string& path);

}  // namespace fovea::tool
