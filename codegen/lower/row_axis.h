// Whether the rows of a step's values are independent of each other.
#pragma once

#include <optional>
#include <string>

#include "codegen/graph/graph.h"

namespace fovea::lower {

/// The reason why not, without a full stop. None: every value of the step that has the dim `rows`
/// has it first, and a row of it depends on the same row of other values and on values that have no
/// rows.
std::optional<std::string> why_rows_are_mixed(const Graph& step, Symbol rows);

}  // namespace fovea::lower
