// Sizes that a command chooses, made to fit the tables of a model.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "codegen/graph/graph.h"
#include "tools/fovea/plan_table.h"

namespace fovea::tool {

/// Lowers sizes, but for those of `given` dims, until every slice of `graphs` lies within what it
/// is cut from: a table of 14 positions has no 17. Where none can be lowered, what it is cut from
/// grows: a window of 5 takes 5 positions. UserError where no such size is left.
void fit_to_slices(const std::vector<const Graph*>& graphs, const std::set<std::string>& given,
                   SampleDims& dims);

/// The names in `given`, as `DIM=N`.
std::set<std::string> names_of(const std::vector<std::string>& given);

}  // namespace fovea::tool
