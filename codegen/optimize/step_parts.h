// Which part of a scan's step stays in the loop.
#pragma once

#include <set>
#include <vector>

#include "codegen/graph/scan_function.h"

namespace fovea {

/// Over the nodes of a step.
struct StepParts {
    std::vector<bool> inside;  // the loop computes or reads it
    std::set<int> ahead;       // of these: computed for all steps before the loop
    std::vector<int> stored;   // the loop gives it, of every step, besides the states
};
StepParts split_step(const ScanFunction& function);

}  // namespace fovea
