// The memory plan of a program as `fovea show --stage plan` prints it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "codegen/plan/plan.h"
#include "runtime/memory/plan_workspace.h"

namespace fovea::tool {

using SampleDims = std::map<std::string, std::int64_t>;

/// `batch=3 src_len=7`
std::string text_of(const SampleDims& dims);

/// A size for every symbolic dim of the model: 64 for batches, 200 for vocabularies, 10 for others,
/// but for those in `given`, as `DIM=N`. UserError for an unknown dim.
SampleDims sample_dims(const plan::Model& model, const std::vector<std::string>& given);

/// UserError where the tensors of a program, at `dims`, need more memory than this machine has.
void check_memory(const plan::Program& program, const SampleDims& dims);

/// The value of a dim; UserError where it has more than 63 bits.
std::int64_t value_of(const Dim& dim, const SampleDims& dims);

/// The bytes of a tensor at these sizes; 0 where it has no memory. UserError where they have more
/// than 63 bits.
std::size_t bytes_of(const plan::Tensor& tensor, const SampleDims& dims);

/// When the buffers of a program live, in their order.
std::vector<runtime::BufferLife> lives_of(const plan::Program& program, const SampleDims& dims);

/// Every tensor with shape, bytes, live range and, at `dims`, its place; then the totals.
std::string plan_table(const plan::Model& model, const plan::Program& program,
                       const SampleDims& dims);

}  // namespace fovea::tool
