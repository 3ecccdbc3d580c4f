// The Executor of a program on a device.
#pragma once

#include <memory>

#include "program_run.h"

namespace fovea::runtime::device {

/// Copies in what has changed, runs the steps, copies the outputs back, and finishes the call on
/// the host's threads.
void execute(ProgramRun& program, const Call& call);

std::unique_ptr<Executor> make_executor(std::shared_ptr<const Shared> shared,
                                        const Program& program, const Steps& steps);

}  // namespace fovea::runtime::device
