// Whether a schedule that was asked for can be kept by a product's plan.
#pragma once

#include "codegen/emit/nvptx/contraction/contraction_plan.h"

namespace fovea::emit::nvptx {

/// UserError, which names the fields, where the threads cannot share the copies of a tile or
/// registers are promised that a multiprocessor does not have.
void check_schedule(const kernel::Kernel& kernel, const ContractionPlan& plan);

/// The same of the shared memory that an entry takes.
void check_shared_bytes(const kernel::Kernel& kernel, int bytes, const target::Gpu& target,
                        const std::string& fields);

/// And of the registers of groups of warps: one group has `fewer`, two have `more`.
void check_registers(const kernel::Kernel& kernel, int fewer, int more, const std::string& fields);

}  // namespace fovea::emit::nvptx
