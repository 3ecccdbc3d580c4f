// Parameters, inputs and outputs in memory that ends where they do.
#pragma once

#include <vector>

#include "codegen/plan/plan.h"
#include "runtime/instance.h"
#include "tools/fovea/verify/sample_inputs.h"

namespace fovea::tool::fuzz {

/// Lays the parameters, inputs and outputs of a bound instance so that each ends with a page behind
/// which nothing may be read or written: who does ends the process, and so does who writes
/// parameters. States stay where they are, and what has no elements.
class GuardedTensors {
  public:
    GuardedTensors(runtime::Instance& instance, runtime::Parameters& parameters,
                   const plan::Program& program, const SampleDims& dims);
    ~GuardedTensors();
    GuardedTensors(const GuardedTensors&) = delete;

  private:
    struct Pages {
        void* address = nullptr;
        std::size_t bytes = 0;
    };
    /// Memory of this size before a page that nobody may touch.
    void* guarded(std::size_t bytes);

    /// Copies the values of a parameter to the place that was made last, which nobody may write
    /// from then on.
    void hold_values(const void* values, void* place, std::size_t bytes);

    std::vector<Pages> pages_;
};

}  // namespace fovea::tool::fuzz
