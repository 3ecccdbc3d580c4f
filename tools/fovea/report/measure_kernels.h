// What each kernel call of a program takes, beside what the machine allows.
#pragma once

#include <string>
#include <vector>

#include "codegen/pipeline.h"
#include "runtime/program.h"
#include "tools/fovea/plan_table.h"

namespace fovea::tool {

/// One call of a kernel.
struct MeasuredStep {
    std::string name;  // module path and ops
    std::string kernel;
    const fuse::Group* group = nullptr;  // of the fused graph; null: a copy that none asks for
    std::vector<std::string> sources;    // the user's lines
    int phase = 0;
    double ms = 0;  // median
    double bytes = 0, flops = 0;  // counted
    double floor_ms = 0;  // flops at the peak, or bytes at the bandwidth

    double share_of_limit() const { return ms > 0 ? floor_ms / ms : 0; }
    bool is_bound_by_memory = false;
};

struct MeasuredProgram {
    double ms = 0;  // of a run that nobody observes: median
    std::vector<MeasuredStep> steps;
};

/// What kernels are compared with: of all threads together.
struct Limits {
    double gflops = 0, gb_s = 0;
};

/// Runs a program on random inputs: each step from the end of the one before, for which all
/// threads wait, to its own end. `compiled` has the program alone.
MeasuredProgram measure_kernels(const CompiledModel& compiled, const runtime::Model& generated,
                                const SampleDims& dims, const Limits& limits);

}  // namespace fovea::tool
