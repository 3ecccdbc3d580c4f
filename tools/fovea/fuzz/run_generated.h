// Runs of a generated program on given values.
#pragma once

#include <memory>

#include "codegen/plan/plan.h"
#include "runtime/session.h"
#include "tools/fovea/verify/sample_inputs.h"

namespace fovea::tool::fuzz {

/// Gives parameters those among `values`.
void set_parameters(runtime::Parameters& parameters, const Values& values);

/// A generated program with its parameters, for runs one after the other.
class GeneratedRuns {
  public:
    /// `values` has the parameters, of the sizes `dims`. What states become lies over them with
    /// `in_place`.
    GeneratedRuns(const runtime::Model& generated, const plan::Program& program,
                  const SampleDims& dims, const Values& values, bool in_place = false);
    /// Over parameters that others run over, too.
    GeneratedRuns(const plan::Program& program, std::shared_ptr<runtime::Parameters> parameters,
                  bool in_place = false);
    GeneratedRuns(const GeneratedRuns&) = delete;
    GeneratedRuns& operator=(const GeneratedRuns&) = delete;

    /// The outputs at any sizes, of the inputs among `values`. All memory but the inputs is NaN
    /// before, and nothing lies behind inputs and outputs.
    Values run(const SampleDims& dims, const Values& values, std::uint64_t seed,
               std::uint64_t step);

  private:
    void fill_with_nan(const SampleDims& dims);

    const plan::Program& program_;
    std::shared_ptr<runtime::Parameters> parameters_;
    runtime::Instance instance_;
    bool in_place_;
};

}  // namespace fovea::tool::fuzz
