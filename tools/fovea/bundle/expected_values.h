// What the float64 reference gives for the cases of a bundle.
#pragma once

#include <string>
#include <vector>

#include "codegen/pipeline.h"
#include "runtime/files/json.h"
#include "tools/fovea/bundle/tolerances.h"
#include "tools/fovea/verify/sample_inputs.h"
#include "tools/fovea/verify/verify_kernels.h"

namespace fovea::tool {

/// Inputs in bfloat16 and float16 become what memory can hold, and inputs of lengths take `lengths`
/// in turns, where there are any.
void round_inputs(const plan::Program& program, const std::vector<std::int64_t>& lengths,
                  Values& values);

/// A tensor that a step is the last to write.
struct ExpectedTensor {
    int step = 0, tensor = 0;
    double floor = 0, bound = 0;
    fovea::Array values;
};
std::vector<ExpectedTensor> expected_tensors(const plan::Model& plan,
                                             const CompiledProgram& compiled, const Sample& sample,
                                             const Values& values, InterpreterOptions options,
                                             Tolerances bounds);

/// A training of the reference: float64 gradients, updates in float32.
struct TrainingRun {
    Values inputs, before, after;  // parameters, by name
    std::vector<double> losses, norms;
    runtime::Json optimizer, rule;
};
TrainingRun run_training(const CompiledModel& model, const Sample& sample,
                         const std::string& optimizer, int steps, std::uint64_t seed);

}  // namespace fovea::tool
