// Keys of few heads are attended to in parts, where one position attends: a task for each part.
#pragma once

#include <optional>
#include <string>

#include "codegen/graph/graph.h"

namespace fovea {

/// Why the keys of fused attention node `id` stay whole, where so many tasks are wanted; none: its
/// queries are few, so that the parts of its heads may be as many.
std::optional<std::string> why_not_split_keys(const Graph& graph, int id, int tasks);

/// Attention from parts of its keys, where heads with one position are fewer than `tasks`; 1: no
/// attention.
Graph split_keys(const Graph& graph, int tasks);

}  // namespace fovea
