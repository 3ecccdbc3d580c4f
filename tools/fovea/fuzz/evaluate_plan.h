// Runs the kernels of a planned program in float64, as tile programs, without any target.
#pragma once

#include <map>
#include <string>

#include "codegen/plan/plan.h"
#include "tools/fovea/verify/sample_inputs.h"

namespace fovea::tool::fuzz {

/// How a program is run: what dropout draws from, and how many positions a tile has.
struct KernelRun {
    std::uint64_t seed = 0, step = 0;
    std::int64_t tile = 5;
};

/// The outputs of `program`, of kernels of `model`, for these values of parameters and inputs. All
/// other memory is NaN before a kernel writes it.
Values evaluate_plan(const plan::Model& model, const plan::Program& program, const SampleDims& dims,
                     const Values& values, const KernelRun& run);

}  // namespace fovea::tool::fuzz
