// The order of work within a strip of lanes: values of the lanes, and passes over the rows.
#pragma once

#include <vector>

#include "codegen/emit/cpp/tiles/tile_plan.h"

namespace fovea::emit {

/// One value or store of the lanes, or one pass over the rows: values and stores with rows, and
/// the reduction that takes them along.
struct StripStep {
    kernel::Id lanes = -1;
    std::vector<kernel::Id> rows;
    kernel::Id reduce = -1;
};

/// The roots of a statement of lanes, in an order in which everything is computed before it is
/// read, in as few passes as there are reductions.
std::vector<StripStep> strip_steps(const TilePlan& plan, const Statement& statement);

/// Whether a root of a statement of lanes has an element in every row.
bool is_in_rows(const TilePlan& plan, const Statement& statement, kernel::Id root);

}  // namespace fovea::emit
