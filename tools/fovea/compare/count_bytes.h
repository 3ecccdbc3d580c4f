// Memory traffic of a planned program, kernel by kernel.
#pragma once

#include "codegen/plan/plan.h"
#include "tools/fovea/plan_table.h"

namespace fovea::tool {

/// Bytes that the kernels of one run read and write: each kernel's buffers once for each direction,
/// of tables only the rows that are looked up. What a kernel reads again, it has in a cache.
double bytes_moved(const kernel::Kernel& kernel, const SampleDims& dims);
double bytes_moved(const plan::Model& model, const plan::Program& program, const SampleDims& dims);

}  // namespace fovea::tool
