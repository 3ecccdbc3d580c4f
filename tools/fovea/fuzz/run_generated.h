// One run of a generated program on given values.
#pragma once

#include "codegen/plan/plan.h"
#include "runtime/program.h"
#include "tools/fovea/verify/sample_inputs.h"

namespace fovea::tool::fuzz {

/// The outputs of `program` of the generated model; all memory but the inputs is NaN before, and
/// nothing lies behind inputs and outputs. What states become lies over them with `in_place`.
Values run_generated(const runtime::Model& generated, const plan::Program& program,
                     const SampleDims& dims, const Values& values, std::uint64_t seed,
                     std::uint64_t step, bool in_place = false);

}  // namespace fovea::tool::fuzz
