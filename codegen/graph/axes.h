// What becomes of axes: the questions of passes, answered by what ops say of theirs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/graph/op_def.h"

namespace fovea {

/// What node `id` does along axis `axis` of an operand.
AxisUse axis_use(const Graph& graph, int id, int operand, int axis);

/// Whether each axis of the operand that is longer than 1 is mapped.
bool maps_all(const Graph& graph, int id, int operand);

/// Whether each element of the result stands where the element of the first operand stands that it
/// is computed of.
bool stays_in_place(const Graph& graph, int id);

/// Whether node `id` of a loop's step has more elements than its operands: those that vary from
/// step to step (`varies`, by node) are mapped, and each has fewer axes longer than 1 or grows
/// itself.
bool grows(const Graph& step, int id, const std::vector<bool>& varies);

/// The reason why rows depend on each other, without a full stop. None: every value that has the
/// dim `rows` has it first, and a row of it depends on the same row of other values and on values
/// that have no rows.
std::optional<std::string> why_rows_are_mixed(const Graph& graph, Symbol rows);

}  // namespace fovea
