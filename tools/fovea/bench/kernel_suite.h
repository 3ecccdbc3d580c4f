// What the suites of single kernels share: graphs become the programs of one generated library, and
// each case is one of them at given sizes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "codegen/pipeline.h"
#include "runtime/program.h"
#include "tools/fovea/bench/stopwatch.h"

namespace fovea::tool {

/// One program at one size. The backward pass is timed inside the program that gives gradients,
/// kernel by kernel; those of the forward pass, which it runs first, do not count.
struct KernelCase {
    std::string program;  // as added; the pass says which of its two programs
    Work work{};  // without flops: those of elementwise ops and reductions are counted
    double share = 1;  // of the elements that take part, in what is counted
    /// Values of i32 inputs that are not drawn: one for each element.
    std::map<std::string, std::vector<std::int32_t>> given{};
};

class KernelSuite {
  public:
    explicit KernelSuite(std::string name) : name_(std::move(name)) {}

    /// Adds the program of this graph and, with `gradient`, the one that differentiates it.
    /// A program that is there already stays.
    void add_program(const std::string& name, const Graph& graph, bool gradient);
    void add_case(KernelCase kernel_case) { cases_.push_back(std::move(kernel_case)); }
    /// Compiles the programs and measures the cases in their order.
    std::vector<BenchRow> run(Bench& bench);

  private:
    BenchRow measure(Bench& bench, const KernelCase& kernel_case) const;

    std::string name_;
    std::vector<ProgramRequest> requests_;
    std::vector<KernelCase> cases_;
    CompiledModel compiled_;
    const runtime::Model* generated_ = nullptr;
};

}  // namespace fovea::tool
