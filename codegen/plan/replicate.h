// Small steps that each thread runs for itself, so that no thread waits for another's part of them.
#pragma once

#include "codegen/plan/plan.h"

namespace fovea::plan {

/// Marks the steps that each thread may run for itself, and the buffers that they write, of which
/// each thread then has its own: those that touch at most `most` numbers where a batch is one
/// sequence, write nothing but buffers of the run, draw nothing, and have sizes in at most the one
/// symbol that most of them have.
void mark_replicated(Program& program, const std::vector<kernel::Kernel>& kernels,
                     std::int64_t most);

/// After the phases are formed: takes the mark from steps that nothing in their phase reads, which
/// spare no wait, and sets `Program::replicas` and the slots of the others.
void place_replicas(Program& program, const std::vector<kernel::Kernel>& kernels,
                    std::int64_t most);

}  // namespace fovea::plan
