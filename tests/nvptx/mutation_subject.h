// Whether changes of a kernel's PTX are noticed: by the checks of the interpreter, or by results
// that differ from those of the kernel as it was emitted, which agree with the evaluator.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/nvptx/mutations.h"
#include "tests/nvptx/run_ptx.h"

namespace fovea::test {

/// What a kernel is run on.
struct MutationRun {
    kernel::DimValues dims;
    std::function<Arrays()> arrays;
};

class MutationSubject {
  public:
    /// The kernel, alone, for one architecture. Checks each run against the evaluator first;
    /// `tolerance` is that of check_against_evaluator.
    MutationSubject(const kernel::Kernel& kernel, const std::string& architecture,
                    std::vector<MutationRun> runs, double tolerance);

    const std::string& name() const { return emitted_.kernels[0].name; }
    const std::vector<std::string>& lines() const { return lines_; }

    /// Whether a schedule of a run finds a fault or other results. None where the text is no PTX
    /// any more.
    std::optional<bool> notices(const Mutation& mutation) const;

  private:
    bool is_right(const Arrays& arrays, const Arrays& right) const;

    Emitted emitted_;
    std::vector<std::string> lines_;
    std::vector<MutationRun> runs_;
    std::vector<Arrays> right_;  // by run
};

struct MutationCount {
    int made = 0, noticed = 0;
    std::vector<std::string> unnoticed;  // one line each: kernel, line number, before, after
};

/// `count` random changes of random ones of the kernels.
MutationCount try_mutations(const std::vector<MutationSubject>& subjects, int count, unsigned seed);

}  // namespace fovea::test
