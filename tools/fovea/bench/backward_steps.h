// The kernels of a gradient program that are its backward pass, and their time.
#pragma once

#include <vector>

#include "codegen/pipeline.h"
#include "runtime/instance.h"

namespace fovea::tool {

/// For each step of the program, whether it is part of the backward pass: it writes a value that
/// a gradient rule made, or a copy that only such steps read.
std::vector<bool> backward_steps(const plan::Model& model, const CompiledProgram& program);

/// Times chosen steps inside runs of a program: from the end of the step before, at which all
/// threads have arrived, to their own end.
class StepTimer {
  public:
    /// InternalError when no step is chosen.
    explicit StepTimer(std::vector<bool> chosen);

    /// Runs the instance once; milliseconds of the chosen steps.
    double milliseconds_of_run(runtime::Instance& instance);

  private:
    static void observe(void* state, int step);

    std::vector<bool> chosen_;
    double last_ = 0, sum_ = 0;  // milliseconds
};

}  // namespace fovea::tool
