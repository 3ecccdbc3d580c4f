// Whether the rows of a step's values do without each other.
#pragma once

#include <optional>
#include <string>

#include "codegen/graph/graph.h"

namespace fovea::lower {

/// Why not, as a sentence without its end, or nothing: then every value of the step that has the
/// dim `rows` has it first, and a row of it depends on the same row of others and on what has no
/// rows.
std::optional<std::string> why_rows_are_mixed(const Graph& step, Symbol rows);

}  // namespace fovea::lower
