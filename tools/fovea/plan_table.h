// The memory plan of a program as `fovea show --stage plan` prints it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "codegen/plan/plan.h"

namespace fovea::tool {

using SampleDims = std::map<std::string, std::int64_t>;

/// A size for every symbolic dim of the model: 64 for batches, 200 for vocabularies, 10 for others,
/// but for those in `given`, as `DIM=N`. UserError for an unknown dim.
SampleDims sample_dims(const plan::Model& model, const std::vector<std::string>& given);

/// The value of a dim.
std::int64_t value_of(const Dim& dim, const SampleDims& dims);

/// Every tensor with shape, bytes, live range and, at `dims`, its place; then the totals.
std::string plan_table(const plan::Model& model, const plan::Program& program,
                       const SampleDims& dims);

}  // namespace fovea::tool
