// Cases that run a program, or train with it, and compare what its kernels write.
#pragma once

#include "tools/bundle/run_case.h"

namespace fovea::bundle {

/// Each kernel's tensors against those of the case, then the outputs of `replays` runs more, which
/// a device with recordings repeats as one graph.
Outcome run_program(const CaseFile& from, const std::shared_ptr<runtime::device::Device>& device,
                    const RunOptions& options, Progress progress);

/// The loss and the norm of the gradient of each step, and the parameters after the last.
Outcome run_training(const CaseFile& from, const std::shared_ptr<runtime::device::Device>& device,
                     const RunOptions& options, Progress progress);

}  // namespace fovea::bundle
