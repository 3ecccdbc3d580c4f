// Inputs and outputs in memory that ends where they do.
#pragma once

#include <vector>

#include "codegen/plan/plan.h"
#include "runtime/instance.h"
#include "tools/fovea/verify/sample_inputs.h"

namespace fovea::tool::fuzz {

/// Lays the inputs and outputs of a bound instance so that each ends with a page behind which
/// nothing may be read or written: who does ends the process. States stay where they are, and
/// what has no elements.
class GuardedTensors {
  public:
    GuardedTensors(runtime::Instance& instance, const plan::Program& program,
                   const SampleDims& dims);
    ~GuardedTensors();
    GuardedTensors(const GuardedTensors&) = delete;

  private:
    struct Pages {
        void* address = nullptr;
        std::size_t bytes = 0;
    };
    /// Memory of this size before a page that nobody may touch.
    void* guarded(std::size_t bytes);

    std::vector<Pages> pages_;
};

}  // namespace fovea::tool::fuzz
